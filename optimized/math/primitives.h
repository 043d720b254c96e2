// The scalar functions of spec/primitives.yaml as Halide expressions. Generators call them by the
// names that entries use; codegen reads this file to know which there are, so each is one function
// `inline Expr name(const Expr& ...)`.
//
// They compute in double and round once to float: polynomials of a few terms are then exact to a
// hundredth of an ulp of float, subnormal results round correctly and nothing overflows on the way.
// NaN and infinities follow IEEE rules, which holds because every fast kernel is compiled with
// strict_float (optimized/generate.cc).
#pragma once

#include <Halide.h>

#include "optimized/math/wide.h"

namespace touchstone::generators::prim {

using Halide::Expr;
using wide::operator""_d;

inline Expr is_nan(const Expr& x) { return Halide::is_nan(x); }
inline Expr is_inf(const Expr& x) { return Halide::is_inf(x); }
inline Expr lowest() { return Halide::Float(32).min(); }
inline Expr highest() { return Halide::Float(32).max(); }

// NaN wins, as in reference/number.h; of equal ones the first.
inline Expr maximum(const Expr& a, const Expr& b) {
  return Halide::select(Halide::is_nan(a) || b < a, a, b);
}
inline Expr minimum(const Expr& a, const Expr& b) {
  return Halide::select(Halide::is_nan(a) || a < b, a, b);
}

inline Expr abs(const Expr& x) { return Halide::abs(x); }
inline Expr sqrt(const Expr& x) { return Halide::sqrt(x); }
inline Expr floor(const Expr& x) { return Halide::floor(x); }
inline Expr ceil(const Expr& x) { return Halide::ceil(x); }
inline Expr round_even(const Expr& x) { return Halide::round(x); }
inline Expr reciprocal(const Expr& x) { return 1.0F / x; }
inline Expr sign(const Expr& x) {
  return Halide::select(Halide::is_nan(x), x,
                        Halide::cast<float>(x > 0.0F) - Halide::cast<float>(x < 0.0F));
}

inline Expr exp(const Expr& x) { return wide::rounded(wide::exp(wide::of(x))); }
inline Expr log(const Expr& x) { return wide::rounded(wide::log(wide::of(x))); }
inline Expr sigmoid(const Expr& x) {
  const Expr d = wide::of(x), small = wide::exp(-Halide::abs(d));
  return wide::rounded(
      Halide::select(d < 0.0_d, small * (1.0_d / (1.0_d + small)), 1.0_d / (1.0_d + small)));
}
inline Expr softplus(const Expr& x) {
  const Expr d = wide::of(x);
  return wide::rounded(Halide::select(d > 0.0_d, d, 0.0_d) +
                       wide::log_of_one_and(wide::exp(-Halide::abs(d))));
}
inline Expr tanh(const Expr& x) {
  const Expr d = wide::of(x), square = d * d, small = wide::exp(-2.0_d * Halide::abs(d));
  const Expr most = (1.0_d - small) / (1.0_d + small);
  const Expr near = d * (1.0_d - square / 3.0_d + square * square * (2.0_d / 15.0_d));
  return wide::rounded(wide::odd(d, 0x1p-9, near, most));
}
inline Expr sinh(const Expr& x) {
  const Expr d = wide::of(x), square = d * d, grown = wide::exp(Halide::abs(d));
  const Expr near = d * (1.0_d + square / 6.0_d + square * square / 120.0_d);
  return wide::rounded(wide::odd(d, 0x1p-7, near, (grown - 1.0_d / grown) * 0.5_d));
}
inline Expr cosh(const Expr& x) {
  const Expr grown = wide::exp(Halide::abs(wide::of(x)));
  return wide::rounded((grown + 1.0_d / grown) * 0.5_d);
}
inline Expr asinh(const Expr& x) {
  const Expr d = wide::of(x), size = Halide::abs(d), square = d * d;
  const Expr near = d * (1.0_d - square / 6.0_d + square * square * (3.0_d / 40.0_d));
  const Expr most = wide::log(size + Halide::sqrt(square + 1.0_d));
  return wide::rounded(wide::odd(d, 0x1p-8, near, most));
}
inline Expr acosh(const Expr& x) {
  const Expr d = wide::of(x), beyond = Halide::select(d < 1.0_d, wide::not_a_number(), d - 1.0_d);
  return wide::rounded(wide::log_of_one_and(beyond + Halide::sqrt(beyond * (d + 1.0_d))));
}
inline Expr atanh(const Expr& x) {
  const Expr d = wide::of(x), size = Halide::abs(d), square = d * d;
  const Expr near = d * (1.0_d + square / 3.0_d + square * square / 5.0_d);
  return wide::rounded(
      wide::odd(d, 0x1p-8, near, 0.5_d * wide::log((1.0_d + size) / (1.0_d - size))));
}

// As in C: a power of 0, of 1 or of an infinity is defined whatever the base, and the sign of an
// odd power is the base's.
inline Expr pow(const Expr& base, const Expr& power) {
  const Expr a = wide::of(base), b = wide::of(power), size = Halide::abs(a);
  const Expr whole = Halide::floor(b) == b, half = b * 0.5_d;
  const Expr odd = whole && Halide::floor(half) != half;
  const Expr negative = Halide::reinterpret<int32_t>(base) < 0;
  const Expr grown = wide::exp(b * wide::log(size));
  const Expr defined = Halide::select(negative && odd, -grown, grown);
  const Expr outside = a < 0.0_d && !Halide::is_inf(a) && !whole;
  const Expr is_one = b == 0.0_d || a == 1.0_d || (a == -1.0_d && Halide::is_inf(b));
  return wide::rounded(Halide::select(is_one, 1.0_d, outside, wide::not_a_number(), defined));
}

// W. J. Cody's rational approximations (Math. Comp. 23, 1969) up to 4; there float's erf is 1
// already.
inline Expr erf(const Expr& x) {
  const Expr d = wide::of(x), size = Halide::abs(d), square = d * d;
  const Expr near =
      d *
      wide::polynomial(square, {3.20937758913846947e3, 3.77485237685302021e2, 1.13864154151050156e2,
                                3.16112374387056560, 1.85777706184603153e-1}) /
      wide::polynomial(square, {2.84423683343917062e3, 1.28261652607737228e3, 2.44024637934444173e2,
                                2.36012909523441209e1, 1});
  const Expr bounded = Halide::select(size > 4.0_d, 4.0_d, size);
  const Expr tail =
      wide::exp(-bounded * bounded) *
      wide::polynomial(bounded,
                       {1.23033935479799725e3, 2.05107837782607147e3, 1.71204761263407058e3,
                        8.81952221241769090e2, 2.98635138197400131e2, 6.61191906371416295e1,
                        8.88314979438837594, 5.64188496988670089e-1, 2.15311535474403846e-8}) /
      wide::polynomial(bounded,
                       {1.23033935480374942e3, 3.43936767414372164e3, 4.36261909014324716e3,
                        3.29079923573345963e3, 1.62138957456669019e3, 5.37181101862009858e2,
                        1.17693950891312499e2, 1.57449261107098347e1, 1});
  return wide::rounded(wide::odd(d, 0.46875, near, 1.0_d - tail));
}

}  // namespace touchstone::generators::prim
