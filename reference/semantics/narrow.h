// Bounded semantics of statements that name a narrower type than the kernel computes in.
#pragma once

#include <optional>

#include "core/numbers/formats.h"
#include "reference/narrow.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/overflow.h"

namespace touchstone {

// Statistics of double elements that are stashed in float. A runtime that computes them in float
// incurs float's roundings, a sum of n as many.
template <>
class Narrowly<Bounded> {
 public:
  explicit Narrowly(Type type) {
    if (facts(type).is_float && format_of(type).precision < semantics_context.precision)
      scope_.emplace(type);
  }

 private:
  std::optional<BoundedScope> scope_;
};

// A runtime may keep its state in float between steps and round only its outputs. A state whose
// output overflowed is then finite: what was computed, where that overflows in `type`.
template <class F>
std::optional<Bounded> as_seen(std::optional<Bounded> shown, Type type, const F& computed) {
  if (!shown || !facts(type).is_float || format_of(type).precision >= semantics_context.precision)
    return shown;
  const Format& f = format_of(type);
  if (std::isinf(shown->hi)) {
    Bounded state = computed();
    const double sign = std::copysign(1.0, shown->hi);
    const bool overflows = sign * state.hi + state.e >= overflow_threshold(f);
    if (!std::isfinite(state.hi) || !overflows) return shown;
    state.add_specials(sign > 0 ? special::infinity : special::minus_infinity);
    return state;
  }
  if (!std::isfinite(shown->hi) || !shown->plain()) return shown;
  const double half_ulp = std::ldexp(std::abs(shown->hi), -f.precision) + f.smallest_subnormal / 2;
  return Bounded::raw(shown->hi, shown->lo, (shown->e + half_ulp) * bounded::up);
}

}  // namespace touchstone
