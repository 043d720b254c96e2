// Searches the smallest set of hidden values behind a fault that vanishes when every value is
// tapped.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/shape.h"

namespace touchstone::compare {

struct Bisected {
  std::vector<std::size_t> hidden;  // values that suffice to show the fault if they are hidden
  Index runs = 0;
  bool smallest = true;  // false: the runs were used up before each value had been tried
};

// Returns true if the fault shows with only these values hidden (ascending positions in the order
// in which the model computes them).
using Shows = std::function<bool(const std::vector<std::size_t>& hidden)>;

// Bisects `count` values. Precondition: the fault shows with all of them hidden and not with none.
// The result shows the fault in any case. If the fault is monotonic (hiding more values never
// removes it), the result is minimal.
Bisected bisect(std::size_t count, const Shows& shows, Index max_runs);

}  // namespace touchstone::compare
