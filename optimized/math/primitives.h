// The scalar functions of spec/primitives.yaml as Halide expressions. Generators call them by the
// names that entries use. codegen parses this file to list the available ones, so each must be
// declared as `inline Expr name(const Expr& ...)`.
//
// Functions that networks evaluate by the million are computed in float32 (single.h), within class
// strict's errors. The rest are computed in double and rounded once to float: polynomials of a few
// terms are then exact to a hundredth of an ulp of float. Subnormal results round correctly and no
// intermediate value overflows. NaN and infinities follow IEEE rules, because
// optimized/kernels/halide/generate.cc compiles these kernels with strict_float.
#pragma once

#include <Halide.h>

#include "optimized/math/single.h"
#include "optimized/math/wide.h"

namespace touchstone::optimized::generators::prim {

using Halide::Expr;
using wide::operator""_d;

inline Expr is_nan(const Expr& x) { return Halide::is_nan(x); }
inline Expr is_inf(const Expr& x) { return Halide::is_inf(x); }
inline Expr lowest() { return Halide::Float(32).min(); }
inline Expr highest() { return Halide::Float(32).max(); }

// NaN propagates, as in reference/number.h; of equal operands the first is returned.
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

inline Expr exp(const Expr& x) { return single::exp(x); }
inline Expr log(const Expr& x) { return single::log(x); }
inline Expr sigmoid(const Expr& x) { return single::sigmoid(x); }
inline Expr softplus(const Expr& x) { return single::softplus(x); }
inline Expr tanh(const Expr& x) { return single::tanh(x); }
inline Expr erf(const Expr& x) { return single::erf(x); }
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
  const Expr max = wide::log(size + Halide::sqrt(square + 1.0_d));
  return wide::rounded(wide::odd(d, 0x1p-8, near, max));
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

// As in C: pow(x, 0), pow(1, y) and pow(-1, inf) are 1 for every x and y, and an odd power has the
// sign of the base.
inline Expr pow(const Expr& base, const Expr& power) {
  // Constant exponents 2 and 3 are multiplications: one rounding, or two.
  if (Halide::Internal::is_const(power, 2)) return base * base;
  if (Halide::Internal::is_const(power, 3)) return base * base * base;
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

}  // namespace touchstone::optimized::generators::prim
