// Overflow of a conversion to a format.
#pragma once

#include "core/numbers/formats.h"

namespace touchstone {

// Least magnitude that a conversion to `f` overflows at: half a unit in the last place past the
// largest value, where round to nearest, ties to even goes up. `f` is narrower than double.
inline double overflow_threshold(const Format& f) {
  const double u = f.unit_roundoff();
  return f.largest * (1 + u / (2 - 2 * u));
}

}  // namespace touchstone
