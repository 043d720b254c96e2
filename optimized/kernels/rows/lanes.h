// Scalar float functions of row kernel expressions that a compiler can vectorize: no branch on an
// element. Includes no common header, so that no code for a newer processor leaks out of the file
// that is compiled for it. Functions without a vectorizable form call the C library.
//
// exp and log compute in double with the algorithm of optimized/math/wide.h, including its
// clamping.
#pragma once

#include <cstdint>

namespace touchstone::optimized {
namespace {
namespace lanes {

inline bool is_nan(float x) { return x != x; }
inline bool is_inf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }

// NaN propagates, as in reference/number.h; of equal operands the first is returned.
inline float maximum(float a, float b) { return is_nan(a) | (b < a) ? a : b; }
inline float minimum(float a, float b) { return is_nan(a) | (a < b) ? a : b; }

inline float abs(float x) { return __builtin_fabsf(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline float round_even(float x) { return __builtin_rintf(x); }
inline float reciprocal(float x) { return 1.0F / x; }
inline float sign(float x) { return is_nan(x) ? x : float(x > 0) - float(x < 0); }

inline double from_bits(std::int64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
inline std::int64_t bits_of(double x) {
  std::int64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Adding it rounds a double to an integer, held in the low bits.
constexpr double shifter = 0x1.8p52;

// As a float, exp(+-110) is infinity or zero. NaN propagates through the polynomial.
inline double exp_of(double x) {
  const double above = x > 110 ? 110 : x, cut = above < -110 ? -110 : above;
  const double shifted = cut * 1.4426950408889634 + shifter, whole = shifted - shifter;
  const double rest = cut - whole * 0.6931471805599453;
  const double scale = from_bits((bits_of(shifted) << 52) + (std::int64_t{1023} << 52));
  double value = 1.0 / 40320;
  value = value * rest + 1.0 / 5040;
  value = value * rest + 1.0 / 720;
  value = value * rest + 1.0 / 120;
  value = value * rest + 1.0 / 24;
  value = value * rest + 1.0 / 6;
  value = value * rest + 0.5;
  value = value * rest + 1.0;
  value = value * rest + 1.0;
  return value * scale;
}
// Handles normal numbers, 0, infinity, NaN and negative numbers.
inline double log_of(double x) {
  const std::int64_t bits = bits_of(x);
  const double fraction = from_bits((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  const bool high = fraction > 1.4142135623730951;
  // Converts the exponent to double by bits: SSE and AVX2 have no vector conversion from int64.
  const double exponent =
      from_bits(((bits >> 52) & 0x7ff) | bits_of(0x1p52)) - 0x1p52 - (high ? 1022.0 : 1023.0);
  const double around = high ? fraction * 0.5 : fraction;
  const double ratio = (around - 1) / (around + 1), square = ratio * ratio;
  double series = 2.0 / 15;
  series = series * square + 2.0 / 13;
  series = series * square + 2.0 / 11;
  series = series * square + 2.0 / 9;
  series = series * square + 2.0 / 7;
  series = series * square + 2.0 / 5;
  series = series * square + 2.0 / 3;
  series = series * square + 2.0;
  const double inside = exponent * 0.6931471805599453 + ratio * series;
  const double min = x == 0 ? -__builtin_inf() : __builtin_nan("");
  const double beside = x > 0 ? x : min;  // infinity and NaN map to themselves
  return (x > 0) & (x < __builtin_inf()) ? inside : (x != x ? x : beside);
}

inline float exp(float x) { return float(exp_of(x)); }
inline float log(float x) { return float(log_of(x)); }
inline float sigmoid(float x) {
  const double d = x, small = exp_of(-__builtin_fabs(d));
  return float((d < 0 ? small : 1.0) / (1 + small));
}
inline float softplus(float x) {
  const double d = x, small = exp_of(-__builtin_fabs(d));
  const double tail = small < 1e-5 ? small * (1 - small * 0.5) : log_of(1 + small);
  return float((d > 0 ? d : (d != d ? d : 0.0)) + tail);
}
inline float tanh(float x) {
  const double d = x, square = d * d, small = exp_of(-2 * __builtin_fabs(d));
  const double max = (1 - small) / (1 + small),
               near = d * (1 - square / 3 + square * square * (2.0 / 15));
  return float(__builtin_fabs(d) < 0x1p-9 ? near : (d < 0 ? -max : max));
}

inline float erf(float x) { return __builtin_erff(x); }
inline float pow(float base, float power) { return __builtin_powf(base, power); }
inline float sin(float x) { return __builtin_sinf(x); }
inline float cos(float x) { return __builtin_cosf(x); }
inline float tan(float x) { return __builtin_tanf(x); }
inline float asin(float x) { return __builtin_asinf(x); }
inline float acos(float x) { return __builtin_acosf(x); }
inline float atan(float x) { return __builtin_atanf(x); }
inline float sinh(float x) { return __builtin_sinhf(x); }
inline float cosh(float x) { return __builtin_coshf(x); }
inline float asinh(float x) { return __builtin_asinhf(x); }
inline float acosh(float x) { return __builtin_acoshf(x); }
inline float atanh(float x) { return __builtin_atanhf(x); }

}  // namespace lanes
}  // namespace
}  // namespace touchstone::optimized
