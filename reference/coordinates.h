// Rarely used functions of the notation: cosine and sine of fractions of a turn, and bounds of
// loops.
#pragma once

#include <cmath>
#include <numbers>

#include "reference/lists.h"

namespace touchstone {

// Cosine and sine of 2 pi j / n. Both are derived from integers, so that quarter turns are exact
// and large angles lose no precision. Extended precision has its own version
// (reference/semantics/extended_coordinates.h).
template <class R>
struct Turn {
  static R cosine(Index j, Index n) {
    if (n <= 0)
      throw Error(ErrorKind::invalid_input, "a turn has no " + std::to_string(n) + " parts");
    const Index part = mod(j, n), quarters = multiply(4, part);
    if (quarters % n == 0) return static_cast<R>(quarter(quarters / n));
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(part) /
                              static_cast<long double>(n);
    return static_cast<R>(std::cos(angle));
  }
  static R sine(Index j, Index n) { return cosine(subtract(multiply(4, j), n), multiply(4, n)); }
  // Cosine of 0 to 3 quarter turns.
  static int quarter(Index k) { return k == 0 ? 1 : k == 2 ? -1 : 0; }
};
template <class R>
R cos_of_turn(Index j, Index n) {
  return Turn<R>::cosine(j, n);
}
template <class R>
R sin_of_turn(Index j, Index n) {
  return Turn<R>::sine(j, n);
}

// An index that must be in 0..n whether or not an element is read there. Throws Error
// (invalid_input).
inline Index within(Index i, Index n) {
  if (i < 0 || i >= n) {
    throw Error(ErrorKind::invalid_input,
                "index " + std::to_string(i) + " is outside an extent of " + std::to_string(n));
  }
  return i;
}

// Upper and lower bound of an index: the index itself unless it is an interval.
inline Index up_to(Index i) { return i; }
inline Index down_to(Index i) { return i; }

}  // namespace touchstone
