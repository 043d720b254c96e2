// A number without value or order, for compile-time checks only. It has every name that a kernel
// may use, and its comparisons give a Boolean that converts to nothing. A kernel that compiles with
// it takes no branch on an element.
#pragma once

#include <concepts>

#include "core/shape.h"
#include "core/types.h"
#include "reference/semantics/bounded_sums.h"

namespace touchstone {

struct OpaqueBool {
  constexpr OpaqueBool() = default;
  constexpr OpaqueBool(std::same_as<bool> auto) {}  // NOLINT: shapes and flags give plain bools
};
inline OpaqueBool both(OpaqueBool, OpaqueBool) { return {}; }
inline OpaqueBool either(OpaqueBool, OpaqueBool) { return {}; }
inline OpaqueBool negate(OpaqueBool) { return {}; }
inline bool surely(OpaqueBool) { return true; }

struct OpaqueIndex {
  OpaqueIndex() = default;
  OpaqueIndex(Index) {}  // NOLINT: implicit, as for IndexRange
};
inline OpaqueIndex add(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueIndex subtract(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueIndex negative(OpaqueIndex) { return {}; }
inline OpaqueIndex multiply(OpaqueIndex, Index) { return {}; }
inline OpaqueIndex multiply(Index, OpaqueIndex) { return {}; }
inline OpaqueIndex min(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueIndex max(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueIndex clamp(OpaqueIndex, OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool less(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool less_equal(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool equal(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator<(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator<=(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator>(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator>=(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator==(OpaqueIndex, OpaqueIndex) { return {}; }
inline OpaqueBool operator!=(OpaqueIndex, OpaqueIndex) { return {}; }

class Opaque {
 public:
  Opaque() = default;
  explicit Opaque(Index) {}
  static Opaque of(double) { return {}; }
};

inline Opaque operator+(Opaque, Opaque) { return {}; }
inline Opaque operator-(Opaque, Opaque) { return {}; }
inline Opaque operator*(Opaque, Opaque) { return {}; }
inline Opaque operator/(Opaque, Opaque) { return {}; }
inline Opaque operator-(Opaque) { return {}; }
inline Opaque& operator+=(Opaque& a, Opaque) { return a; }
inline Opaque& operator-=(Opaque& a, Opaque) { return a; }
inline Opaque& operator*=(Opaque& a, Opaque) { return a; }
inline Opaque& operator/=(Opaque& a, Opaque) { return a; }

inline OpaqueBool less(Opaque, Opaque) { return {}; }
inline OpaqueBool less_equal(Opaque, Opaque) { return {}; }
inline OpaqueBool equal(Opaque, Opaque) { return {}; }
inline OpaqueBool is_nan(Opaque) { return {}; }
inline OpaqueBool is_inf(Opaque) { return {}; }
inline Opaque select(OpaqueBool, Opaque, Opaque) { return {}; }
inline OpaqueIndex select(OpaqueBool, OpaqueIndex, OpaqueIndex) { return {}; }
inline Opaque hull(Opaque, Opaque) { return {}; }
inline OpaqueIndex hull(OpaqueIndex, OpaqueIndex) { return {}; }

template <std::same_as<Opaque> S>
S constant(double) {
  return {};
}
template <std::same_as<Opaque> S>
S from_index(Index) {
  return {};
}
template <std::same_as<Opaque> S>
S real(OpaqueIndex) {
  return {};
}
template <std::same_as<Opaque> S>
S convert_to(S, Type, bool) {
  return {};
}
inline Opaque store(Opaque, Type) { return {}; }
inline OpaqueIndex floor_index(Opaque) { return {}; }
inline OpaqueIndex ceil_index(Opaque) { return {}; }

namespace prim {
#define TOUCHSTONE_OPAQUE(name) \
  inline Opaque name(Opaque) { return {}; }
TOUCHSTONE_OPAQUE(exp)
TOUCHSTONE_OPAQUE(log)
TOUCHSTONE_OPAQUE(sqrt)
TOUCHSTONE_OPAQUE(tanh)
TOUCHSTONE_OPAQUE(sigmoid)
TOUCHSTONE_OPAQUE(softplus)
TOUCHSTONE_OPAQUE(erf)
TOUCHSTONE_OPAQUE(abs)
TOUCHSTONE_OPAQUE(sign)
TOUCHSTONE_OPAQUE(floor)
TOUCHSTONE_OPAQUE(ceil)
TOUCHSTONE_OPAQUE(truncate)
TOUCHSTONE_OPAQUE(round_even)
TOUCHSTONE_OPAQUE(sin)
TOUCHSTONE_OPAQUE(cos)
TOUCHSTONE_OPAQUE(tan)
TOUCHSTONE_OPAQUE(asin)
TOUCHSTONE_OPAQUE(acos)
TOUCHSTONE_OPAQUE(atan)
TOUCHSTONE_OPAQUE(sinh)
TOUCHSTONE_OPAQUE(cosh)
TOUCHSTONE_OPAQUE(asinh)
TOUCHSTONE_OPAQUE(acosh)
TOUCHSTONE_OPAQUE(atanh)
TOUCHSTONE_OPAQUE(reciprocal)
#undef TOUCHSTONE_OPAQUE
inline Opaque pow(Opaque, Opaque) { return {}; }
inline Opaque fmod(Opaque, Opaque) { return {}; }
inline Opaque maximum(Opaque, Opaque) { return {}; }
inline Opaque minimum(Opaque, Opaque) { return {}; }
}  // namespace prim

struct OpaqueAccumulator {
  void add(Opaque) {}
  void subtract(Opaque) {}
  bool empty() const { return false; }
  Opaque get() const { return {}; }
};
template <>
struct Sum<Opaque> : OpaqueAccumulator {};
template <>
struct Prod<Opaque> : OpaqueAccumulator {};
template <>
struct Max<Opaque> : OpaqueAccumulator {};
template <>
struct Min<Opaque> : OpaqueAccumulator {};

}  // namespace touchstone
