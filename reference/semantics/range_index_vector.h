// A point some of whose indices are intervals. A read there gives the hull of all elements it may
// mean.
#pragma once

#include <type_traits>
#include <vector>

#include "reference/lists.h"
#include "reference/semantics/index_range.h"
#include "reference/semantics/opaque.h"

namespace touchstone {

struct RangeIndexVector {
  std::vector<IndexRange> at;
  void push_back(const IndexRange& i) { at.push_back(i); }
  operator IndexVector() const {  // NOLINT: the exact point, for messages
    IndexVector exact;
    for (const IndexRange& i : at) exact.push_back(i.at);
    return exact;
  }
};
struct OpaqueIndexVector {
  void push_back(OpaqueIndex) {}
  operator IndexVector() const { return {}; }  // NOLINT: as above
};
template <>
struct PackOf<IndexRange> {
  using Is = RangeIndexVector;
};
template <>
struct PackOf<OpaqueIndex> {
  using Is = OpaqueIndexVector;
};

template <class A>
constexpr bool is_ranged = std::is_same_v<A, IndexRange> || std::is_same_v<A, RangeIndexVector>;
template <class A>
constexpr bool is_opaque_index =
    std::is_same_v<A, OpaqueIndex> || std::is_same_v<A, OpaqueIndexVector>;

inline void append(RangeIndexVector& list, const IndexRange& i) { list.at.push_back(i); }
inline void append(RangeIndexVector& list, Index i) { list.at.emplace_back(i); }
inline void append(RangeIndexVector& list, const IndexVector& more) {
  for (Index i : more) list.at.emplace_back(i);
}
inline void append(RangeIndexVector& list, const RangeIndexVector& more) {
  list.at.insert(list.at.end(), more.at.begin(), more.at.end());
}

template <class... A>
requires(is_ranged<A> || ...) RangeIndexVector join(const A&... parts) {
  RangeIndexVector r;
  (append(r, parts), ...);
  return r;
}
template <class... A>
requires(is_opaque_index<A> || ...) OpaqueIndexVector join(const A&...) { return {}; }

namespace detail {
// Calls f with every point of the intervals, the exact one first. Throws Error (limit) if there are
// over 4,096.
template <class F>
void around(const RangeIndexVector& p, F f) {
  constexpr Index most = 4096;
  IndexVector exact, low, extents;
  Index points = 1;
  for (const IndexRange& i : p.at) {
    const Index extent = std::min(width(i), most) + 1;
    exact.push_back(i.at), low.push_back(i.lo), extents.push_back(extent);
    points = points > most ? points : points * extent;
  }
  f(exact);
  if (points == 1) return;
  if (points > most)
    throw Error(ErrorKind::limit, "an index is so uncertain that over 4,096 elements may be meant");
  for (const IndexVector& step : box(extents)) {
    if (const IndexVector at = low + step; !(at == exact)) f(at);
  }
}
}  // namespace detail

template <class V>
auto read_around(const V& view, const RangeIndexVector& p) {
  auto result = decltype(view.read(IndexVector{})){};
  bool first = true;
  detail::around(p, [&](const IndexVector& at) {
    const auto element = view.read(at);
    result = first ? element : either_of(result, element);
    first = false;
  });
  return result;
}
template <class V, class C>
C read_around(const V& view, const RangeIndexVector& p, const C& other) {
  C result = other;
  bool first = true;
  detail::around(p, [&](const IndexVector& at) {
    const C element = view.read(at, other);
    result = first ? element : either_of(result, element);
    first = false;
  });
  return result;
}
template <class V>
auto read_around(const V&, const OpaqueIndexVector&) {
  return decltype(std::declval<V>().read(IndexVector{})){};
}
template <class V, class C>
C read_around(const V&, const OpaqueIndexVector&, const C& other) {
  return other;
}

}  // namespace touchstone
