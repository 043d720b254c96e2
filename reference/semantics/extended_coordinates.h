// Fractions of a turn and bounds of loops over extended precision numbers.
#pragma once

#include "reference/coordinates.h"
#include "reference/semantics/exact.h"
#include "reference/semantics/index_range.h"
#include "reference/semantics/opaque.h"

namespace touchstone {

// Exact at quarter turns, like the native ones. A faithful evaluation takes the cosine of 2 pi j /
// n with each of the three rounded, so the bound covers that error.
Bounded cosine_of_turn(Index j, Index n);
Bounded sine_of_turn(Index j, Index n);
Exact exact_cosine_of_turn(Index j, Index n);

template <>
struct Turn<Bounded> {
  static Bounded cosine(Index j, Index n) { return cosine_of_turn(j, n); }
  static Bounded sine(Index j, Index n) { return sine_of_turn(j, n); }
};
template <>
struct Turn<Exact> {
  static Exact cosine(Index j, Index n) { return exact_cosine_of_turn(j, n); }
  static Exact sine(Index j, Index n) {
    return exact_cosine_of_turn(subtract(multiply(4, j), n), multiply(4, n));
  }
};
template <>
struct Turn<Opaque> {
  static Opaque cosine(Index, Index) { return {}; }
  static Opaque sine(Index, Index) { return {}; }
};

// The part of the interval in 0..n, since a target that gave an answer had an index there.
inline IndexRange within(const IndexRange& i, Index n) {
  if (n <= 0 || i.hi < 0 || i.lo >= n) return within(i.at, n);
  return clamp(i, IndexRange(0), IndexRange(n - 1));
}
inline OpaqueIndex within(OpaqueIndex i, Index) { return i; }

inline Index up_to(const IndexRange& i) { return i.hi; }
inline Index down_to(const IndexRange& i) { return i.lo; }
inline Index up_to(OpaqueIndex) { return 0; }
inline Index down_to(OpaqueIndex) { return 0; }

}  // namespace touchstone
