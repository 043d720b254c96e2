// Trigonometric functions by vectors of doubles, whose errors stay below 0.02 ulp of a float. Those
// of arc sines and cosines, a part of which is found in floats, stay below a quarter of an ulp.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_TRIGONOMETRY,
// without contraction of products and sums. Calls no inline function of the standard library, as in
// ordered.cc.
#include "optimized/kernels/trigonometry.h"

#include <immintrin.h>

#include "optimized/kernels/vector_doubles.h"

namespace touchstone::optimized {

namespace {

constexpr std::int64_t block = 128;  // numbers that are computed between two looks at the range

using Singles __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES / 2))) = float;
using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Ints __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int32_t;

inline Ints bits(Floats x) { return reinterpret_cast<Ints>(x); }
inline Floats of_bits(Ints x) { return reinterpret_cast<Floats>(x); }
inline Floats all_singles(float x) { return x - Floats{}; }

inline Floats root(Floats x) {
#if TOUCHSTONE_VECTOR_BYTES == 64
  return _mm512_maskz_sqrt_ps(0xffff, x);
#elif TOUCHSTONE_VECTOR_BYTES == 32
  return _mm256_sqrt_ps(x);
#else
  return _mm_sqrt_ps(x);
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

// The angle of a tangent that is not negative. The tangent of the rest of the nearest of 0, pi / 4
// and pi / 2 is at most sqrt 2 - 1.
inline Doubles angle_of(Doubles x) {
  constexpr double lower = 0.41421356237309503, upper = 2.4142135623730949;
  const Longs low = x <= lower, middle = x <= upper;
  const Doubles over = low ? x : (middle ? x - 1.0 : all(-1));
  const Doubles under = low ? all(1) : (middle ? x + 1.0 : x);
  const Doubles base = low ? all(0) : (middle ? all(0.78539816339744828) : all(1.5707963267948966));
  const Doubles tangent = over / under, square = tangent * tangent;
  return base + tangent * polynomial(square, {-1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11,
                                              1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0});
}

inline Doubles size_of(Doubles x) { return of_bits(bits(x) & ~sign); }
inline Doubles with_sign(Doubles made, Doubles x) { return of_bits(bits(made) | (bits(x) & sign)); }

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
Doubles atan(Doubles x) { return with_sign(angle_of(size_of(x)), x); }

float far_sin(float x) { return __builtin_sinf(x); }
float far_cos(float x) { return __builtin_cosf(x); }
float far_tan(float x) { return __builtin_tanf(x); }

// A number less the square of s, which is near it.
inline Floats beyond_square(Floats number, Floats s) {
  const Floats high = of_bits(bits(s) & ~0xfff), low = s - high;  // their products are exact
  return ((number - high * high) - 2.0F * high * low) - low * low;
}

// An angle: some quarter turns, and the sum of two floats.
struct Angles {
  float quarters[2 * lanes], angle[2 * lanes], rest[2 * lanes];
};

// asin s = s + s tail(s^2), with s = |x| up to 1/2 and s = sqrt((1 - |x|) / 2) beyond, where the
// arc cosine of |x| is twice that.
template <bool cosine>
inline Angles arcs(Floats x) {
  const Ints negative = bits(x) & (std::int32_t{1} << 31);
  const Floats size = of_bits(bits(x) ^ negative), beyond = (1.0F - size) * 0.5F;
  const Ints far = size > 0.5F;
  const Floats square = far ? beyond : size * size, s = far ? root(beyond) : size;
  constexpr float factors[] = {0x1.17cdbcp-6F, 0x1.fdce9ep-6F, 0x1.6d58dap-5F, 0x1.33343cp-4F,
                               0x1.555554p-3F};
  Floats tail = all_singles(0x1.14efcap-5F);
#pragma GCC unroll 8
  for (const float next : factors) tail = tail * square + next;
  // Newton's method gives the rest of the root. An eighth of 1 / (2 s) is exact enough.
  const Floats half_reciprocal = of_bits(0x7e7311c7 - bits(s));
  const Floats error = far ? beyond_square(beyond, s) * half_reciprocal : Floats{};
  const Floats rest = error + s * (square * tail);
  const auto signed_by_x = [&](Floats made) { return of_bits(bits(made) ^ negative); };
  const Floats one = all_singles(1), two = all_singles(2);
  const Floats factor = signed_by_x(cosine ? (far ? two : -one) : (far ? -two : one));
  const Floats ahead = negative != 0 ? two : Floats{};
  const Floats quarters = cosine ? (far ? ahead : one) : signed_by_x(far ? one : Floats{});
  Angles made;
  __builtin_memcpy(made.quarters, &quarters, sizeof quarters);
  const Floats angle = factor * s, more = factor * rest;
  __builtin_memcpy(made.angle, &angle, sizeof angle);
  __builtin_memcpy(made.rest, &more, sizeof more);
  return made;
}

inline Doubles load(const float* from) {
  Singles some;
  __builtin_memcpy(&some, from, sizeof some);
  return __builtin_convertvector(some, Doubles);
}

template <bool cosine>
void each_arc(const float* x, float* y, std::int64_t count) {
  constexpr std::int64_t together = 2 * lanes;
  for (std::int64_t first = 0; first < count; first += together) {
    const std::int64_t some = count - first < together ? count - first : together;
    Floats given{};
    if (some == together)
      __builtin_memcpy(&given, x + first, sizeof given);
    else
      __builtin_memcpy(&given, x + first, static_cast<std::size_t>(some) * sizeof(float));
    const Angles found = arcs<cosine>(given);
    float held[together];
    float* const to = some == together ? y + first : held;
    for (std::int64_t k = 0; k < together; k += lanes) {
      const Doubles angle = load(found.angle + k) + load(found.rest + k);
      const Singles made =
          __builtin_convertvector(load(found.quarters + k) * 1.5707963267948966 + angle, Singles);
      __builtin_memcpy(to + k, &made, sizeof made);
    }
    if (some < together)
      __builtin_memcpy(y + first, held, static_cast<std::size_t>(some) * sizeof(float));
  }
}

}  // namespace

const TrigonometryKernels TOUCHSTONE_TRIGONOMETRY{each_turned<sin, far_sin>,
                                                  each_turned<cos, far_cos>,
                                                  each_turned<tan, far_tan>,
                                                  each_arc<false>,
                                                  each_arc<true>,
                                                  compute<atan>};

}  // namespace touchstone::optimized
