// Primitive functions on native numbers, by the names of spec/primitives.yaml, and the product
// inside a sum. Extended precision (reference/semantics/) overloads both.
#pragma once

#include <cmath>
#include <type_traits>

#include "reference/number.h"

namespace touchstone {

namespace prim {
#define TOUCHSTONE_PRIMITIVE(name, expression) \
  template <class C>                           \
  requires std::is_floating_point_v<C> C name(C x) { return expression; }
TOUCHSTONE_PRIMITIVE(exp, std::exp(x))
TOUCHSTONE_PRIMITIVE(log, std::log(x))
TOUCHSTONE_PRIMITIVE(sqrt, std::sqrt(x))
TOUCHSTONE_PRIMITIVE(tanh, std::tanh(x))
TOUCHSTONE_PRIMITIVE(sinh, std::sinh(x))
TOUCHSTONE_PRIMITIVE(cosh, std::cosh(x))
TOUCHSTONE_PRIMITIVE(sin, std::sin(x))
TOUCHSTONE_PRIMITIVE(cos, std::cos(x))
TOUCHSTONE_PRIMITIVE(tan, std::tan(x))
TOUCHSTONE_PRIMITIVE(asin, std::asin(x))
TOUCHSTONE_PRIMITIVE(acos, std::acos(x))
TOUCHSTONE_PRIMITIVE(atan, std::atan(x))
TOUCHSTONE_PRIMITIVE(asinh, std::asinh(x))
TOUCHSTONE_PRIMITIVE(acosh, std::acosh(x))
TOUCHSTONE_PRIMITIVE(atanh, std::atanh(x))
TOUCHSTONE_PRIMITIVE(erf, std::erf(x))
TOUCHSTONE_PRIMITIVE(floor, std::floor(x))
TOUCHSTONE_PRIMITIVE(ceil, std::ceil(x))
TOUCHSTONE_PRIMITIVE(abs, std::fabs(x))
TOUCHSTONE_PRIMITIVE(reciprocal, C(1) / x)
TOUCHSTONE_PRIMITIVE(sign, C((x > 0) - (x < 0)) + (std::isnan(x) ? x : C(0)))
TOUCHSTONE_PRIMITIVE(softplus, (x > 0 ? x : C(0)) + std::log1p(std::exp(-std::fabs(x))))
#undef TOUCHSTONE_PRIMITIVE

// Uses exp of negative numbers only, so that nothing overflows.
template <class C>
requires std::is_floating_point_v<C> C sigmoid(C x) {
  const C small = std::exp(-std::fabs(x));
  return x < 0 ? small / (1 + small) : 1 / (1 + small);
}
// Rounds to the nearest integer, ties to even, regardless of the thread's rounding mode.
template <class C>
requires std::is_floating_point_v<C> C round_even(C x) {
  if (!(std::fabs(x) < C(1) / std::numeric_limits<C>::epsilon())) return x;
  const C low = std::floor(x), rest = x - low;
  const C up = rest > C(0.5) || (rest == C(0.5) && std::fmod(low, C(2)) != 0) ? low + 1 : low;
  return std::copysign(up, x);
}
template <class T>
Modular<T> abs(Modular<T> x) {
  if constexpr (std::is_signed_v<T>)
    return x.v < 0 ? -x : x;
  else
    return x;
}
template <class C>
C maximum(const C& a, const C& b) {
  return is_nan(a) || less(b, a) ? a : b;
}
template <class C>
C minimum(const C& a, const C& b) {
  return is_nan(a) || less(a, b) ? a : b;
}

template <class C>
requires std::is_floating_point_v<C> C pow(C base, C power) { return std::pow(base, power); }
// Integer power modulo 2^n; a negative power truncates towards zero.
template <class T, class P>
Modular<T> whole_power(Modular<T> base, Modular<P> power) {
  if (power.v < 0) {
    if (base.v == 0) throw Error(ErrorKind::invalid_input, "zero is raised to a negative power");
    if (base.v == 1) return base;
    if constexpr (std::is_signed_v<T>) {
      if (base.v == -1) return power.v % 2 == 0 ? Modular<T>(1) : base;
    }
    return Modular<T>(0);
  }
  Modular<T> result(1);
  for (auto n = power.u(); n > 0; n /= 2) {
    if (n % 2 != 0) result = result * base;
    base = base * base;
  }
  return result;
}
template <class T>
Modular<T> pow(Modular<T> base, Modular<T> power) {
  return whole_power(base, power);
}
// Mixed types: the base's class decides; an integer base with a non-integer power computes in
// double.
template <class A, class B>
auto pow(const A& base, const B& power) {
  if constexpr (std::is_floating_point_v<A>) {
    const long double exact = as_number(power);
    const auto rounded = static_cast<double>(exact);
    if (is_modular<B> && rounded != exact) {  // a double does not hold whether the power is odd
      return static_cast<A>(std::pow(static_cast<long double>(base), exact));
    }
    // glibc's powl takes -2^63 for another power, but a double holds it.
    return static_cast<A>(std::pow(static_cast<double>(base), rounded));
  } else if constexpr (is_modular<A> && is_modular<B>) {
    return whole_power(Modular<std::int64_t>(static_cast<std::int64_t>(base.v)), power);
  } else {
    return std::pow(static_cast<double>(as_number(base)), static_cast<double>(as_number(power)));
  }
}
}  // namespace prim

// A product that is a term of a sum: extended precision numbers round it as sums do.
template <class A, class B>
constexpr auto product_in_sum(const A& a, const B& b) {
  return a * b;
}

}  // namespace touchstone
