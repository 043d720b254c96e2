// Adapts generated kernels to extended precision numbers: companion types, conversion of inputs to
// exact numbers, sampling of outputs, and results for the judge.
#pragma once

#include "core/budget.h"
#include "reference/number.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"
#include "reference/semantics/extended_call.h"
#include "reference/semantics/index_range.h"
#include "reference/semantics/opaque.h"
#include "reference/semantics/range_index_vector.h"

namespace touchstone {

template <>
struct RealOf<Bounded> {
  using Is = Bounded;
};
template <>
struct RealOf<Exact> {
  using Is = Exact;
};
template <>
struct RealOf<Opaque> {
  using Is = Opaque;
};
template <>
struct IndexOf<Bounded> {
  using Is = IndexRange;
};
template <>
struct IndexOf<Opaque> {
  using Is = OpaqueIndex;
};
template <>
inline constexpr bool is_extended<Bounded> = true;
template <>
inline constexpr bool is_extended<Exact> = true;
template <>
inline constexpr bool is_extended<Opaque> = true;

template <class S>
concept ExtendedNumber = is_extended<S>;
template <ExtendedNumber T>
struct RealInOf<T> {
  using Is = T;
};

template <ExtendedNumber S>
void put(S& slot, Type type, const S& value) {
  slot = store(value, type);
}
template <ExtendedNumber T>
T lowest(Type type) {
  return constant<T>(-format_of(type).largest);
}
template <ExtendedNumber T>
T highest(Type type) {
  return constant<T>(format_of(type).largest);
}
template <ExtendedNumber T>
T convert_element(const T& x, Type type, bool saturate = false) {
  return convert_to<T>(x, type, saturate);
}
template <ExtendedNumber S>
S round_number(const S& x, Type type) {
  return store(x, type);
}
template <ExtendedNumber S>
S from_real(const S& x) {
  return x;
}
template <ExtendedNumber S>
S to_real(const S& x) {
  return x;
}

// A shape has one value: that of the float computation, which is the exact value rounded once.
inline Index floor_now(const Bounded& x) { return floor_now(static_cast<float>(x.hi + x.lo)); }
inline Index ceil_now(const Bounded& x) { return ceil_now(static_cast<float>(x.hi + x.lo)); }
inline Index floor_now(const Exact& x) { return floor_now(static_cast<float>(x.hi())); }
inline Index ceil_now(const Exact& x) { return ceil_now(static_cast<float>(x.hi())); }
inline Index floor_now(const Opaque&) { return 0; }
inline Index ceil_now(const Opaque&) { return 0; }

}  // namespace touchstone

#include "reference/kernel.h"

namespace touchstone {
template <>
struct PredicateOf<Bounded> {
  using Is = TriBool;
};
template <>
struct PredicateOf<Opaque> {
  using Is = OpaqueBool;
};
}  // namespace touchstone

#include "reference/semantics/extended_bind.h"
