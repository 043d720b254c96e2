// float64 building blocks of optimized/math/primitives.h.
#pragma once

#include <Halide.h>

#include <vector>

namespace touchstone::optimized::generators::wide {

using Halide::Expr;

inline Expr constant(double value) { return Expr(value); }
inline Expr operator""_d(long double value) { return Expr(static_cast<double>(value)); }
inline Expr of(const Expr& x) { return Halide::cast<double>(x); }
inline Expr rounded(const Expr& x) { return Halide::cast<float>(x); }
inline Expr not_a_number() {
  return Halide::reinterpret<double>(Expr(uint64_t{0x7ff8000000000000}));
}
inline Expr infinity() { return Halide::reinterpret<double>(Expr(uint64_t{0x7ff0000000000000})); }

// first + second x + third x^2 ..., by Horner's rule.
inline Expr polynomial(const Expr& x, const std::vector<double>& coefficients) {
  Expr value = constant(coefficients.back());
  for (std::size_t k = coefficients.size() - 1; k-- > 0;)
    value = value * x + constant(coefficients[k]);
  return value;
}

// Evaluates an odd function of x: `near` below the limit, else `most` (a function of |x|) with the
// sign of x. Both propagate NaN.
inline Expr odd(const Expr& x, double limit, const Expr& near, const Expr& max) {
  return Halide::select(Halide::abs(x) < constant(limit), near, x < 0.0_d, -max, max);
}

// Clamps arguments beyond the range of float32: exp(+-110) is infinity or zero as a float32, but
// finite as a double. Twice and half of such a value are finite too, so callers that divide or
// square do not overflow.
inline Expr exp(const Expr& x) {
  const Expr cut = Halide::select(x > 110.0_d, 110.0_d, x < -110.0_d, -110.0_d, x);
  const Expr whole = Halide::floor(cut * 1.4426950408889634_d + 0.5_d);
  const Expr rest = cut - whole * 0.6931471805599453_d;
  const Expr power =
      Halide::cast<int64_t>(Halide::cast<int32_t>(Halide::select(Halide::is_nan(x), 0.0_d, whole)));
  const Expr scale = Halide::reinterpret<double>((power + 1023) << 52);
  return scale * polynomial(rest, {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                                   1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800});
}

// For normal numbers: log 2^e + 2 artanh((m - 1) / (m + 1)) with m around 1. Every float32 is
// normal as a double.
inline Expr log(const Expr& x) {
  const Expr bits = Halide::reinterpret<int64_t>(x);
  // As Exprs: Halide would narrow a plain integer next to an Expr to 32 bits.
  const Expr of_fraction{int64_t{0x000fffffffffffff}}, of_one{int64_t{0x3ff0000000000000}};
  const Expr fraction = Halide::reinterpret<double>((bits & of_fraction) | of_one);
  const Expr high = fraction > 1.4142135623730951_d;
  const Expr exponent = Halide::cast<double>(Halide::cast<int32_t>((bits >> 52) & 0x7ff) - 1023 +
                                             Halide::cast<int32_t>(high));
  const Expr around = Halide::select(high, fraction * 0.5_d, fraction);
  const Expr ratio = (around - 1.0_d) / (around + 1.0_d);
  const Expr series = polynomial(
      ratio * ratio, {2, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15});
  const Expr inside = exponent * 0.6931471805599453_d + ratio * series;
  return Halide::select(x > 0.0_d && x < infinity(), inside, x == 0.0_d, -infinity(), x < 0.0_d,
                        not_a_number(), x);
}

// log(1 + x) for x from 0 on.
inline Expr log_of_one_and(const Expr& x) {
  return Halide::select(x < 1e-5_d, x * (1.0_d - x * 0.5_d + x * x / 3.0_d), wide::log(1.0_d + x));
}

}  // namespace touchstone::optimized::generators::wide
