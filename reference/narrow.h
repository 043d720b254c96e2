// Statements of the notation computed in a narrower type than the kernel's. Native and exact
// semantics ignore this; for bounded see reference/semantics/narrow.h.
#pragma once

#include <optional>

#include "core/types.h"

namespace touchstone {

// While it exists, `name[i] = round_to<type>(...)` is computed in `type`, sums included, and not
// merely stored in it.
template <class T>
class Narrowly {
 public:
  explicit Narrowly(Type) {}
};

// Recurrent state implied by an output of this type; `computed` returns the kernel's own.
template <class S, class F>
std::optional<S> as_seen(std::optional<S> shown, Type, const F&) {
  return shown;
}

}  // namespace touchstone
