// What a statement of the notation says of a narrower type than the kernel computes in. Native and
// exact numbers have nothing to heed there; bounded ones do: reference/readings/narrow.h.
#pragma once

#include <optional>

#include "core/types.h"

namespace touchstone {

// For as long as it lives: `name[i] = round_to<type>(...)` is computed in `type`, its sums too, not
// only stored in it.
template <class T>
class Narrowly {
 public:
  explicit Narrowly(Type) {}
};

// The state behind what an output of this type shows of it.
template <class S>
std::optional<S> as_seen(std::optional<S> shown, Type) {
  return shown;
}

}  // namespace touchstone
