// Functions of vectors of doubles. See double_functions.h.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_DOUBLE_FUNCTIONS,
// without contraction of products and sums. Calls no inline function of the standard library, as in
// ordered.cc.
#include "optimized/kernels/double_functions.h"

#include <immintrin.h>

#include "optimized/kernels/vector_doubles.h"

namespace touchstone::optimized {

namespace {

// 2^k for the integer k in the low bits of a sum, which are those of k and of no other bit.
inline Doubles power_of_two(Longs k) { return of_bits((k + 1023) << 52); }

// The power of two is multiplied in two parts, so that a subnormal result is rounded once. Results
// that round to 0 are not computed: processors take long for subnormal products.
inline Doubles exp(Doubles x) {
  constexpr double shifter = 0x1.8p52, least = -745.1332191019412, most = 710;
  const Longs gone = x < least;
  const Doubles cut = gone ? all(0) : (x > most ? all(most) : x);
  const Doubles found = cut * 1.4426950408889634 + shifter, whole = found - shifter;
  // The first part of log 2 has 33 bits, so that its multiples are exact. `lost` is the rounding
  // error of the rest.
  const Doubles near = cut - whole * 0x1.62e42fefp-1, less = whole * 0x1.473de6af278edp-34;
  const Doubles rest = near - less, lost = (near - rest) - less;
  constexpr double factors[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
  Doubles tail = all(1.0 / 6227020800);
#pragma GCC unroll 16
  for (const double factor : factors) tail = tail * rest + factor;
  const Doubles around_one = 1.0 + (rest + (rest * rest * tail + lost));
  const Doubles half = whole * 0.5 + shifter;
  const Longs first = bits(half) - bits(all(shifter)), both = bits(found) - bits(all(shifter));
  const Doubles made = around_one * power_of_two(first) * power_of_two(both - first);
  return gone ? all(0) : made;
}

// A rational function near 0, and 1 - 2 / (e^2x + 1) beyond.
inline Doubles tanh(Doubles x) {
  const Longs negative = bits(x) & sign;
  const Doubles size = of_bits(bits(x) ^ negative), square = x * x;
  const Doubles over = (square * -9.64399179425052238628e-1 + -9.92877231001918586564e1) * square +
                       -1.61468768441708447952e3;
  const Doubles under =
      ((square + 1.12811678491632931402e2) * square + 2.23548839060100448583e3) * square +
      4.84406305325125486048e3;
  const Doubles near = size + size * square * (over / under);
  const Doubles far = 1.0 - 2.0 / (exp(size > 22.0 ? all(44) : size + size) + 1.0);
  const Doubles made = size < 0.625 ? near : (x == x ? far : size);
  return of_bits(bits(made) | negative);
}

inline Doubles sigmoid(Doubles x) {
  const Doubles shrunk = exp(of_bits(bits(x) | sign));
  return (x < 0.0 ? shrunk : all(1)) / (1.0 + shrunk);
}

inline Doubles sqrt(Doubles x) {
#if TOUCHSTONE_VECTOR_BYTES == 64
  return _mm512_maskz_sqrt_pd(0xff, x);
#elif TOUCHSTONE_VECTOR_BYTES == 32
  return _mm256_sqrt_pd(x);
#else
  return _mm_sqrt_pd(x);
#endif
}

template <Doubles function(Doubles)>
void each(const double* x, double* y, std::int64_t count) {
  Doubles some;
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    __builtin_memcpy(&some, x + k, sizeof some);
    some = function(some);
    __builtin_memcpy(y + k, &some, sizeof some);
  }
  if (k == count) return;
  const auto rest = static_cast<std::size_t>(count - k) * sizeof(double);
  some = Doubles{};
  __builtin_memcpy(&some, x + k, rest);
  some = function(some);
  __builtin_memcpy(y + k, &some, rest);
}

}  // namespace

const DoubleFunctionKernels TOUCHSTONE_DOUBLE_FUNCTIONS{each<exp>, each<tanh>, each<sigmoid>,
                                                        each<sqrt>};

}  // namespace touchstone::optimized
