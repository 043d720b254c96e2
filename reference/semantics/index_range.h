// An index computed from a real number. In bounded semantics the real is an interval, so the index
// is a range.
#pragma once

#include <algorithm>

#include "core/checked.h"
#include "reference/semantics/bounded.h"

namespace touchstone {

struct IndexRange {
  Index lo = 0, hi = 0;  // reachable by faithful evaluations, both included
  Index at = 0;          // index of the exact value

  IndexRange() = default;
  IndexRange(Index i) : lo(i), hi(i), at(i) {}  // NOLINT: implicit, an index is a range
  IndexRange(Index lo, Index hi, Index at) : lo(lo), hi(hi), at(at) {}
  bool single() const { return lo == hi; }
};

// The arithmetic of core/checked.h: the exact index must fit; the ends saturate.
namespace detail {
constexpr Index farthest(bool up) {
  return up ? std::numeric_limits<Index>::max() : std::numeric_limits<Index>::min();
}
inline Index end_of_sum(Index a, Index b) {
  return __builtin_add_overflow(a, b, &a) ? farthest(b > 0) : a;
}
inline Index end_of_difference(Index a, Index b) {
  return __builtin_sub_overflow(a, b, &a) ? farthest(b < 0) : a;
}
inline Index end_of_product(Index a, Index b) {
  const bool up = (a < 0) == (b < 0);
  return __builtin_mul_overflow(a, b, &a) ? farthest(up) : a;
}
}  // namespace detail
inline IndexRange add(const IndexRange& a, const IndexRange& b) {
  return {detail::end_of_sum(a.lo, b.lo), detail::end_of_sum(a.hi, b.hi), add(a.at, b.at)};
}
inline IndexRange subtract(const IndexRange& a, const IndexRange& b) {
  return {detail::end_of_difference(a.lo, b.hi), detail::end_of_difference(a.hi, b.lo),
          subtract(a.at, b.at)};
}
inline IndexRange negative(const IndexRange& a) { return subtract(IndexRange(0), a); }
inline IndexRange multiply(const IndexRange& a, Index k) {
  const Index lo = detail::end_of_product(a.lo, k), hi = detail::end_of_product(a.hi, k);
  return {std::min(lo, hi), std::max(lo, hi), multiply(a.at, k)};
}
inline IndexRange multiply(Index k, const IndexRange& a) { return multiply(a, k); }
// Number of indices after the first.
inline Index width(const IndexRange& a) { return detail::end_of_difference(a.hi, a.lo); }

inline IndexRange min(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), std::min(a.at, b.at)};
}
inline IndexRange max(const IndexRange& a, const IndexRange& b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), std::max(a.at, b.at)};
}
inline IndexRange clamp(const IndexRange& a, const IndexRange& least, const IndexRange& most) {
  return min(max(a, least), most);
}

inline TriBool less(const IndexRange& a, const IndexRange& b) {
  return {a.at < b.at, a.hi < b.lo || a.lo >= b.hi};
}
inline TriBool less_equal(const IndexRange& a, const IndexRange& b) { return negate(less(b, a)); }
inline TriBool equal(const IndexRange& a, const IndexRange& b) {
  return {a.at == b.at, a.hi < b.lo || b.hi < a.lo || (a.single() && b.single())};
}
inline TriBool operator<(const IndexRange& a, const IndexRange& b) { return less(a, b); }
inline TriBool operator<=(const IndexRange& a, const IndexRange& b) { return less_equal(a, b); }
inline TriBool operator>(const IndexRange& a, const IndexRange& b) { return less(b, a); }
inline TriBool operator>=(const IndexRange& a, const IndexRange& b) { return less_equal(b, a); }
inline TriBool operator==(const IndexRange& a, const IndexRange& b) { return equal(a, b); }
inline TriBool operator!=(const IndexRange& a, const IndexRange& b) { return negate(equal(a, b)); }

inline IndexRange hull(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.at};
}
inline IndexRange select(TriBool predicate, const IndexRange& a, const IndexRange& b) {
  if (predicate.certain) return predicate.exact ? a : b;
  return predicate.exact ? hull(a, b) : hull(b, a);
}

// Reals past 2^53 are not valid indices: the ends saturate there.
IndexRange floor_index(const Bounded& x);
IndexRange ceil_index(const Bounded& x);

Bounded real_of(const IndexRange& i);
template <std::same_as<Bounded> S>
S real(const IndexRange& i) {
  return real_of(i);
}

// Joins element(i) over every index of the range: a tensor read at an uncertain index.
template <class F>
Bounded read_range(const IndexRange& range, F element) {
  Bounded out = element(range.at);
  for (Index k = 0; k <= width(range); ++k) {
    if (const Index i = range.lo + k; i != range.at) out = either_of(out, element(i));
  }
  return out;
}

}  // namespace touchstone
