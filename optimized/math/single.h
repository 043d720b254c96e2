// float32 building blocks of optimized/math/primitives.h: the functions that networks evaluate by
// the million. Range reduction follows Cody and Waite; the polynomials are minimax fits of our own
// with float32 coefficients.
//
// Under strict_float no operation is contracted or reordered, so results have the same bits on
// every instruction set, with or without FMA. Kernels that a plan fuses after others are compiled
// without it (optimized/kernels/halide/generate.cc) and use FMA. Operations that must not be
// contracted are marked here one by one: sums that round to an integer, the two parts of a
// reduction, and handling of NaN and infinities. Logarithms are strict throughout.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

namespace touchstone::optimized::generators::single {

using Halide::Expr;

inline Expr operator""_f(long double value) { return Expr(static_cast<float>(value)); }
inline Expr bits(const Expr& x) { return Halide::reinterpret<uint32_t>(x); }
inline Expr of_bits(const Expr& b) { return Halide::reinterpret<float>(b); }
inline Expr infinity() { return of_bits(Expr(uint32_t{0x7f800000})); }
inline Expr not_a_number() { return of_bits(Expr(uint32_t{0x7fc00000})); }

// Operations that are never contracted or reordered, whatever the kernel's floating-point mode.
using Halide::Internal::Call;
inline Expr strict_sum(const Expr& a, const Expr& b) {
  return Call::make(a.type(), Call::strict_add, {a, b}, Call::PureIntrinsic);
}
inline Expr strict_difference(const Expr& a, const Expr& b) {
  return Call::make(a.type(), Call::strict_sub, {a, b}, Call::PureIntrinsic);
}
inline Expr strict_product(const Expr& a, const Expr& b) {
  return Call::make(a.type(), Call::strict_mul, {a, b}, Call::PureIntrinsic);
}
inline Expr strict_quotient(const Expr& a, const Expr& b) {
  return Call::make(a.type(), Call::strict_div, {a, b}, Call::PureIntrinsic);
}
inline Expr strict_less(const Expr& a, const Expr& b) {
  return Call::make(Halide::Bool(), Call::strict_lt, {a, b}, Call::PureIntrinsic);
}

// first + second x + third x^2 ..., by pairs, which halves the dependency chain.
inline Expr polynomial(const Expr& x, const std::vector<float>& coefficients) {
  std::vector<Expr> terms;
  for (const float coefficient : coefficients) terms.emplace_back(coefficient);
  for (Expr power = x;; power = power * power) {
    std::vector<Expr> pairs;
    for (std::size_t k = 0; k < terms.size(); k += 2)
      pairs.push_back(k + 1 < terms.size() ? terms[k] + power * terms[k + 1] : terms[k]);
    if (pairs.size() == 1) return pairs[0];
    terms = std::move(pairs);
  }
}

// The same by Horner's rule: fewer operations.
inline Expr one_by_one(const Expr& x, const std::vector<float>& coefficients) {
  Expr value = coefficients.back();
  for (std::size_t k = coefficients.size() - 1; k-- > 0;) value = value * x + coefficients[k];
  return value;
}

// Returns `size`, which is not negative, with the sign of x.
inline Expr with_sign_of(const Expr& x, const Expr& size) {
  return of_bits(bits(size) | (bits(x) & Expr(uint32_t{0x80000000})));
}

// ln 2 in two parts. The first has nine bits, so that its product with an integer is exact.
inline constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;

// Returns e^x for x from -104 to 89, outside of which all float32 results are 0 or infinite. A sum
// whose last bit is worth 1 finds the integer nearest to x / ln 2, whose bits are then added to the
// exponent. `shift` is added to the exponent and `scale` = 2^-shift removes it again, so that a
// subnormal result is rounded once.
inline Expr exp_in_range(const Expr& x, const Expr& shift, const Expr& scale) {
  const Expr found = strict_sum(strict_product(x, 1.44269504_f), 12582912.0_f + shift);
  const Expr whole = strict_difference(found, 12582912.0_f + shift);
  const Expr first = x - whole * Expr(ln2_high);
  const Expr rest = strict_difference(first, strict_product(whole, Expr(ln2_low)));
  const Expr tail = one_by_one(
      rest, {0x1.fffffcp-2F, 0x1.555492p-3F, 0x1.5558bcp-5F, 0x1.1239c6p-7F, 0x1.6a4154p-10F});
  const Expr around_one = ((rest * rest) * tail + rest) + 1.0_f;
  return strict_product(of_bits(bits(around_one) + (bits(found) << 23)), scale);
}
inline Expr exp(const Expr& given) {
  const Expr x = Halide::strict_float(given);
  const Expr below = Halide::select(strict_less(89.0_f, x), 89.0_f, x);
  const Expr cut = Halide::select(strict_less(below, -104.0_f), -104.0_f, below);
  const Expr negative = strict_less(x, 0.0_f);
  const Expr grown = exp_in_range(cut, Halide::select(negative, 64.0_f, -64.0_f),
                                  Halide::select(negative, Expr(0x1p-64F), Expr(0x1p64F)));
  return Halide::select(Halide::is_nan(x), x, grown);
}
// Returns e^x for x up to 0; for NaN the result is unspecified.
inline Expr exp_of_negative(const Expr& x) {
  const Expr cut = Halide::select(strict_less(x, -104.0_f), -104.0_f, x);
  return exp_in_range(cut, 64.0_f, Expr(0x1p-64F));
}

// log(1 + x) - x + x^2 / 2 for 1 + x from sqrt(1/2) to sqrt(2).
inline Expr log_tail(const Expr& x, const Expr& square) {
  return (x * square) *
         polynomial(x, {0x1.555554p-2F, -0x1.000228p-2F, 0x1.99a026p-3F, -0x1.54720ap-3F,
                        0x1.22d7d2p-3F, -0x1.0d85aep-3F, 0x1.056a46p-3F, -0x1.38d512p-4F});
}
inline Expr log(const Expr& given) {
  const Expr x = Halide::strict_float(given);
  const Expr min_normal = Expr(0x1p-126F), root_of_half = Expr(uint32_t{0x3f3504f3});
  const Expr tiny = x < min_normal, grown = Halide::select(tiny, x * Expr(0x1p24F), x);
  // Splits into 2^exponent times a fraction in [sqrt(1/2), sqrt(2)).
  const Expr above = Halide::reinterpret<int32_t>(bits(grown) - root_of_half) >> 23;
  const Expr fraction = of_bits(bits(grown) - (Halide::reinterpret<uint32_t>(above) << 23));
  const Expr exponent = Halide::cast<float>(above) - Halide::select(tiny, 24.0_f, 0.0_f);
  const Expr beyond = fraction - 1.0_f, square = beyond * beyond;
  const Expr small = (log_tail(beyond, square) + exponent * Expr(ln2_low)) - 0.5_f * square;
  const Expr inside = (beyond + small) + exponent * Expr(ln2_high);
  const Expr defined = Halide::select(x > 0.0_f, inside, x == 0.0_f, -infinity(), not_a_number());
  return Halide::strict_float(Halide::select(x < infinity(), defined, x));
}
// log(1 + x) for x from 0 to 1.
inline Expr log_of_one_and(const Expr& x) {
  const Expr high = x > 0.41421354_f, beyond = Halide::select(high, (x - 1.0_f) * 0.5_f, x);
  const Expr square = beyond * beyond;
  const Expr small =
      (log_tail(beyond, square) + Halide::select(high, Expr(ln2_low), 0.0_f)) - 0.5_f * square;
  return (beyond + small) + Halide::select(high, Expr(ln2_high), 0.0_f);
}

inline Expr sigmoid(const Expr& given) {
  const Expr x = Halide::strict_float(given);
  const Expr small = exp_of_negative(-Halide::abs(x));
  const Expr inside = Halide::select(strict_less(x, 0.0_f), small, 1.0_f) / (1.0_f + small);
  return Halide::select(Halide::is_nan(x), x, inside);
}
inline Expr softplus(const Expr& x) {
  const Expr inside =
      Halide::select(x > 0.0_f, x, 0.0_f) + log_of_one_and(exp_of_negative(-Halide::abs(x)));
  return Halide::strict_float(Halide::select(Halide::is_nan(x), x, inside));
}
inline Expr tanh(const Expr& given) {
  const Expr x = Halide::strict_float(given);
  const Expr size = Halide::abs(x), square = x * x, small = exp_of_negative(-2.0_f * size);
  const Expr near = strict_sum(
      size, (size * square) * polynomial(square, {-0x1.555534p-2F, 0x1.110760p-3F, -0x1.b84340p-5F,
                                                  0x1.52509ep-6F, -0x1.76922ap-8F}));
  const Expr far = (1.0_f - small) / (1.0_f + small);
  return with_sign_of(x, Halide::select(strict_less(0.625_f, size), far, near));
}
// From 0.925 on, 1 - exp(-x p(x)); at 3.95 erf rounds to 1 in float32.
inline Expr erf(const Expr& given) {
  const Expr x = Halide::strict_float(given);
  const Expr size = Halide::abs(x), square = x * x;
  const Expr near = strict_sum(
      size,
      size * polynomial(square, {0x1.06eba8p-3F, -0x1.812740p-2F, 0x1.ce2d60p-4F, -0x1.b80080p-6F,
                                 0x1.54426ep-8F, -0x1.a5ba96p-11F, 0x1.4e459cp-14F}));
  const Expr cut = Halide::select(strict_less(3.95_f, size), 3.95_f, size);
  const Expr power =
      cut * polynomial(cut, {0x1.20ee5cp+0F, 0x1.4538aep-1F, 0x1.b2d3bep-4F, -0x1.8435b2p-6F,
                             0x1.d9340ap-9F, -0x1.4a1ef4p-12F, 0x1.5df090p-17F});
  const Expr far = 1.0_f - exp_of_negative(-power);
  return with_sign_of(x, Halide::select(strict_less(0.925_f, size), far, near));
}

}  // namespace touchstone::optimized::generators::single
