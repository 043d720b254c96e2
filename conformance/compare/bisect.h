// A fault that goes when every value is tapped comes from values that are not: which few are
// enough?
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/shape.h"

namespace touchstone {

struct Bisected {
  std::vector<std::size_t> hidden;  // values that need no more than these hidden to show the fault
  Index runs = 0;
  bool smallest = true;  // false: the runs were used up before each value had been tried
};

// Asks whether the fault shows with only these values hidden (positions in the order in which the
// model makes them, rising).
using Shows = std::function<bool(const std::vector<std::size_t>& hidden)>;

// Of `count` values, with all of which hidden the fault shows and with none hidden does not. What
// comes out shows it, whatever the fault is like; and if it shows whenever more is hidden than is
// needed, no value can be left out.
Bisected bisect(std::size_t count, const Shows& shows, Index most_runs);

}  // namespace touchstone
