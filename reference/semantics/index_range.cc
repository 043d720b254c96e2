// Conversions between reals and ranges of indices.
#include "reference/semantics/index_range.h"

#include <cstdint>

#include "reference/semantics/alternatives.h"

namespace touchstone {
namespace {

constexpr double most = 0x1p53;

Index bounded_index(double x) {
  return static_cast<Index>(x != x ? 0.0 : x > most ? most : x < -most ? -most : x);
}

IndexRange range_of(const Bounded& jumped) {
  const Index at = bounded_index(jumped.hi + jumped.lo);
  if (!jumped.plain() && jumped.specials())
    return {-static_cast<Index>(most), static_cast<Index>(most), at};
  if (jumped.is_set()) {
    IndexRange range(at);
    for (const Bounded::Member* m = jumped.members_begin(); m != jumped.members_end(); ++m) {
      range.lo = std::min(range.lo, bounded_index(std::floor(m->hi - m->e)));
      range.hi = std::max(range.hi, bounded_index(std::ceil(m->hi + m->e)));
    }
    return range;
  }
  if (jumped.e == 0) return at;
  return {bounded_index(jumped.hi - jumped.e), bounded_index(jumped.hi + jumped.e), at};
}

}  // namespace

IndexRange floor_index(const Bounded& x) { return range_of(prim::floor(x)); }
IndexRange ceil_index(const Bounded& x) { return range_of(prim::ceil(x)); }

Bounded real_of(const IndexRange& i) {
  Bounded out(i.at);
  const auto apart = [](Index low, Index high) {
    return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  };
  if (apart(i.lo, i.hi) > 3) {
    out.e += static_cast<double>(std::max(apart(i.lo, i.at), apart(i.at, i.hi)));
    return out;
  }
  for (Index k = i.lo;; ++k) {
    if (k != i.at) {
      const Bounded m(k);
      out.admit({m.hi, m.lo, m.e});
    }
    if (k == i.hi) return out;  // not the loop condition: the largest number has no successor
  }
}

}  // namespace touchstone
