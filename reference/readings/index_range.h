// An index that was computed from a real number: in the bounded reading the real is an interval, so
// the index is a range.
#pragma once

#include <algorithm>

#include "core/shape.h"
#include "reference/readings/bounded.h"

namespace touchstone {

struct IndexRange {
  Index lo = 0, hi = 0;  // what honest evaluations may have reached, both included
  Index at = 0;          // what the exact value says

  IndexRange() = default;
  IndexRange(Index i) : lo(i), hi(i), at(i) {}  // NOLINT: an index is a range
  IndexRange(Index lo, Index hi, Index at) : lo(lo), hi(hi), at(at) {}
  bool single() const { return lo == hi; }
};

inline IndexRange operator+(const IndexRange& a, const IndexRange& b) {
  return {a.lo + b.lo, a.hi + b.hi, a.at + b.at};
}
inline IndexRange operator-(const IndexRange& a, const IndexRange& b) {
  return {a.lo - b.hi, a.hi - b.lo, a.at - b.at};
}
inline IndexRange operator-(const IndexRange& a) { return {-a.hi, -a.lo, -a.at}; }
inline IndexRange operator*(const IndexRange& a, Index k) {
  return k >= 0 ? IndexRange{a.lo * k, a.hi * k, a.at * k}
                : IndexRange{a.hi * k, a.lo * k, a.at * k};
}
inline IndexRange operator*(Index k, const IndexRange& a) { return a * k; }

inline IndexRange min(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), std::min(a.at, b.at)};
}
inline IndexRange max(const IndexRange& a, const IndexRange& b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), std::max(a.at, b.at)};
}
inline IndexRange clamp(const IndexRange& a, const IndexRange& least, const IndexRange& most) {
  return min(max(a, least), most);
}

inline Tri less(const IndexRange& a, const IndexRange& b) {
  return {a.at < b.at, a.hi < b.lo || a.lo >= b.hi};
}
inline Tri less_equal(const IndexRange& a, const IndexRange& b) { return negate(less(b, a)); }
inline Tri equal(const IndexRange& a, const IndexRange& b) {
  return {a.at == b.at, a.hi < b.lo || b.hi < a.lo || (a.single() && b.single())};
}
inline Tri operator<(const IndexRange& a, const IndexRange& b) { return less(a, b); }
inline Tri operator<=(const IndexRange& a, const IndexRange& b) { return less_equal(a, b); }
inline Tri operator>(const IndexRange& a, const IndexRange& b) { return less(b, a); }
inline Tri operator>=(const IndexRange& a, const IndexRange& b) { return less_equal(b, a); }
inline Tri operator==(const IndexRange& a, const IndexRange& b) { return equal(a, b); }
inline Tri operator!=(const IndexRange& a, const IndexRange& b) { return negate(equal(a, b)); }

inline IndexRange hull(const IndexRange& a, const IndexRange& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.at};
}
inline IndexRange select(Tri truth, const IndexRange& a, const IndexRange& b) {
  if (truth.certain) return truth.exact ? a : b;
  return truth.exact ? hull(a, b) : hull(b, a);
}

// Past 2^53 a real is no index of anything: ends there.
IndexRange floor_index(const Bounded& x);
IndexRange ceil_index(const Bounded& x);

Bounded real_of(const IndexRange& i);
template <std::same_as<Bounded> S>
S real(const IndexRange& i) {
  return real_of(i);
}

// element(i) for every index of the range, joined: how a tensor is read at an index that is not
// certain.
template <class F>
Bounded read_range(const IndexRange& range, F element) {
  Bounded out = element(range.at);
  for (Index i = range.lo; i <= range.hi; ++i) {
    if (i != range.at) out = either_of(out, element(i));
  }
  return out;
}

}  // namespace touchstone
