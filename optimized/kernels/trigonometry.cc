// Trigonometric functions by vectors of doubles, whose errors stay below 0.02 ulp of a float.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_TRIGONOMETRY,
// without contraction of products and sums. Calls no inline function of the standard library, as in
// ordered.cc.
#include "optimized/kernels/trigonometry.h"

#include <immintrin.h>

namespace touchstone {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(double);
constexpr std::int64_t block = 128;  // numbers that are computed between two looks at the range

using Doubles __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = double;
using Longs __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int64_t;
using Singles __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES / 2))) = float;

inline Longs bits(Doubles x) { return reinterpret_cast<Longs>(x); }
inline Doubles of_bits(Longs x) { return reinterpret_cast<Doubles>(x); }
inline Doubles all(double x) { return x - Doubles{}; }
constexpr std::int64_t sign = std::int64_t{1} << 63;

inline Doubles root(Doubles x) {
#if TOUCHSTONE_VECTOR_BYTES == 64
  return _mm512_maskz_sqrt_pd(0xff, x);
#elif TOUCHSTONE_VECTOR_BYTES == 32
  return _mm256_sqrt_pd(x);
#else
  return _mm_sqrt_pd(x);
#endif
}

template <int terms>
inline Doubles polynomial(Doubles x, const double (&factors)[terms]) {
  Doubles made = all(factors[0]);
#pragma GCC unroll 16
  for (int k = 1; k < terms; ++k) made = made * x + factors[k];
  return made;
}

// Sine and cosine of the rest of x in quarter turns, and the number of quarter turns.
struct Turned {
  Doubles sine, cosine;
  Longs quarters;
};
// For |x| up to 2^20: the first part of pi / 2 has 33 bits, so that its multiples are exact. A sum
// whose last bit is worth 1 finds the nearest integer.
constexpr float farthest_turned = 0x1p20F;
inline Turned turned(Doubles x) {
  constexpr double shifter = 0x1.8p52;
  const Doubles found = x * 0.63661977236758134 + shifter, whole = found - shifter;
  const Doubles rest = (x - whole * 1.57079632673412561417) - whole * 6.07710050650619224932e-11;
  const Doubles square = rest * rest;
  return {rest * polynomial(square,
                            {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}),
          polynomial(square, {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24,
                              -0.5, 1.0}),
          bits(found)};
}

inline Doubles sine_of(const Turned& t, std::int64_t more) {
  const Longs quarters = t.quarters + more;
  const Doubles made = (quarters & 1) != 0 ? t.cosine : t.sine;
  return of_bits(bits(made) ^ ((quarters & 2) << 62));
}

// The angle of a point in the first quadrant. The tangent of the rest of the nearest of 0, pi / 4
// and pi / 2 is at most sqrt 2 - 1.
inline Doubles angle_of(Doubles y, Doubles x) {
  constexpr double lower = 0.41421356237309503, upper = 2.4142135623730949;
  const Longs low = y <= x * lower, middle = y <= x * upper;
  const Doubles over = low ? y : (middle ? y - x : -x), under = low ? x : (middle ? y + x : y);
  const Doubles base = low ? all(0) : (middle ? all(0.78539816339744828) : all(1.5707963267948966));
  const Doubles tangent = over / under, square = tangent * tangent;
  return base + tangent * polynomial(square, {-1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11,
                                              1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0});
}

inline Doubles size_of(Doubles x) { return of_bits(bits(x) & ~sign); }
inline Doubles with_sign(Doubles made, Doubles x) { return of_bits(bits(made) | (bits(x) & sign)); }
inline Doubles leg(Doubles x) { return root((1.0 - x) * (1.0 + x)); }

template <Doubles function(Doubles)>
inline void compute(const float* x, float* y, std::int64_t count) {
  Singles some;
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    __builtin_memcpy(&some, x + k, sizeof some);
    some = __builtin_convertvector(function(__builtin_convertvector(some, Doubles)), Singles);
    __builtin_memcpy(y + k, &some, sizeof some);
  }
  if (k == count) return;
  const auto rest = static_cast<std::size_t>(count - k) * sizeof(float);
  some = Singles{};
  __builtin_memcpy(&some, x + k, rest);
  some = __builtin_convertvector(function(__builtin_convertvector(some, Doubles)), Singles);
  __builtin_memcpy(y + k, &some, rest);
}

// Leaves numbers beyond the range to the C library.
template <Doubles function(Doubles), float beyond(float)>
void each_turned(const float* x, float* y, std::int64_t count) {
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t some = count - first < block ? count - first : block;
    float held[block];
    __builtin_memcpy(held, x + first, static_cast<std::size_t>(some) * sizeof(float));
    compute<function>(held, y + first, some);
    int far = 0;
    for (std::int64_t k = 0; k < some; ++k)
      far |= static_cast<int>(!(__builtin_fabsf(held[k]) <= farthest_turned));
    for (std::int64_t k = 0; far != 0 && k < some; ++k) {
      if (!(__builtin_fabsf(held[k]) <= farthest_turned)) y[first + k] = beyond(held[k]);
    }
  }
}

Doubles sin(Doubles x) { return sine_of(turned(x), 0); }
Doubles cos(Doubles x) { return sine_of(turned(x), 1); }
Doubles tan(Doubles x) {
  const Turned t = turned(x);
  return sine_of(t, 0) / sine_of(t, 1);
}
Doubles asin(Doubles x) {
  const Doubles size = size_of(x);
  return with_sign(angle_of(size, leg(size)), x);
}
Doubles acos(Doubles x) {
  const Doubles size = size_of(x), angle = angle_of(leg(size), size);
  return x < 0.0 ? 3.1415926535897931 - angle : angle;
}
Doubles atan(Doubles x) { return with_sign(angle_of(size_of(x), all(1)), x); }

float far_sin(float x) { return __builtin_sinf(x); }
float far_cos(float x) { return __builtin_cosf(x); }
float far_tan(float x) { return __builtin_tanf(x); }

}  // namespace

const TrigonometryKernels TOUCHSTONE_TRIGONOMETRY{each_turned<sin, far_sin>,
                                                  each_turned<cos, far_cos>,
                                                  each_turned<tan, far_tan>,
                                                  compute<asin>,
                                                  compute<acos>,
                                                  compute<atan>};

}  // namespace touchstone
