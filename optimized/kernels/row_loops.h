// Loops over rows of contiguous floats by vectors, included by kernels that are compiled once per
// instruction set, with TOUCHSTONE_VECTOR_BYTES. Includes no common header, so that no code for a
// newer processor leaks out of those files.
#pragma once

#include <immintrin.h>

#include "optimized/kernels/vector_exp.h"

namespace touchstone::optimized {
namespace {

using Quad __attribute__((vector_size(16))) = float;
constexpr std::int64_t one_vector = lanes_at_once, four_vectors = 4 * one_vector;
constexpr std::int64_t piece = 64 * four_vectors;  // numbers that are summed in float32

inline Bits before(std::int64_t count) {
  Bits place;
  for (int k = 0; k < lanes_at_once; ++k) place[k] = k;
  return place < static_cast<std::int32_t>(count);
}

// Reads and writes fewer numbers than a vector has; the other lanes read are `rest`.
#if defined(__AVX512F__)
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  return _mm512_mask_loadu_ps(all(rest), static_cast<__mmask16>((1U << count) - 1), at);
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  _mm512_mask_storeu_ps(at, static_cast<__mmask16>((1U << count) - 1), x);
}
#elif defined(__AVX2__)
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  const Bits mask = before(count);
  return choose(mask, _mm256_maskload_ps(at, reinterpret_cast<__m256i>(mask)), all(rest));
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  _mm256_maskstore_ps(at, reinterpret_cast<__m256i>(before(count)), x);
}
#else
inline Floats load_some(const float* at, std::int64_t count, float rest) {
  Floats x = all(rest);
  x[0] = at[0];
  if (count > 1) x[1] = at[1];
  if (count > 2) x[2] = at[2];
  return x;
}
inline void store_some(float* at, std::int64_t count, Floats x) {
  at[0] = x[0];
  if (count > 1) at[1] = x[1];
  if (count > 2) at[2] = x[2];
}
#endif
inline Floats load_vector(const float* at) { return *reinterpret_cast<const Anywhere*>(at); }
inline void store_vector(float* at, Floats x) { *reinterpret_cast<Anywhere*>(at) = x; }

// Combines all lanes of a vector: first its quarters of 16 bytes, then their lanes.
template <class Combine>
inline float fold(Floats x, Combine combine) {
  constexpr int quads = lanes_at_once / 4;
  Quad held[quads];
  __builtin_memcpy(held, &x, sizeof held);
#pragma GCC unroll 2
  for (int width = quads / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) held[k] = combine(held[k], held[k + width]);
  }
  Quad some = held[0];
  some = combine(some, __builtin_shufflevector(some, some, 2, 3, 0, 1));
  some = combine(some, __builtin_shufflevector(some, some, 1, 0, 3, 2));
  return some[0];
}

// Calls term(k, v) for each vector of a row: v holds its numbers from k on. At the end of the row,
// v holds fewer numbers and zeros. Returns the sum of the results.
template <class Term>
[[gnu::always_inline]] inline double sum_of(const float* x, std::int64_t count, Term term) {
  double all = 0;
  std::int64_t k = 0;
  do {
    Floats sums[4] = {};
    const std::int64_t end = count - k < piece ? count : k + piece;
    for (; k + four_vectors <= end; k += four_vectors) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] += term(k + v * one_vector, load_vector(x + k + v * one_vector));
    }
    for (; k + one_vector <= end; k += one_vector) sums[0] += term(k, load_vector(x + k));
    if (k < end) {
      sums[1] += of_bits(bits(term(k, load_some(x + k, end - k, 0))) & before(end - k));
      k = end;
    }
    all += static_cast<double>(
        fold((sums[0] + sums[1]) + (sums[2] + sums[3]), [](Quad a, Quad b) { return a + b; }));
  } while (k < count);
  return all;
}

// The largest or smallest lane; NaN if there is one.
template <bool smallest>
inline float fold_extreme(Floats x) {
  return fold(x, [](Quad a, Quad b) { return ((smallest ? a < b : a > b) | (a != a)) ? a : b; });
}

// The largest or smallest number of a row; NaN if the row holds one.
template <bool smallest>
inline float extreme(const float* x, std::int64_t count) {
  constexpr float worst = smallest ? __builtin_inff() : -__builtin_inff();
  const auto better = [](Floats a, Floats b) { return (smallest ? a < b : a > b) ? a : b; };
  const Floats start = all(worst);
  Floats best[4] = {start, start, start, start};
  Bits nan = {};
  const auto look = [&](int v, Floats some) {
    nan |= some != some;
    best[v] = better(some, best[v]);
  };
  std::int64_t k = 0;
  for (; k + four_vectors <= count; k += four_vectors) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) look(v, load_vector(x + k + v * one_vector));
  }
  for (; k + one_vector <= count; k += one_vector) look(0, load_vector(x + k));
  if (k < count) look(1, load_some(x + k, count - k, worst));
  best[0] = better(better(best[0], best[1]), better(best[2], best[3]));
  return fold_extreme<smallest>(of_bits(bits(best[0]) | nan));  // all ones are a NaN
}

// Writes result(k, v) for each vector of a row, as sum_of() reads it.
template <class Result>
[[gnu::always_inline]] inline void map(const float* x, float* y, std::int64_t count,
                                       Result result) {
  std::int64_t k = 0;
#pragma GCC unroll 4
  for (; k + one_vector <= count; k += one_vector)
    store_vector(y + k, result(k, load_vector(x + k)));
  if (k < count) store_some(y + k, count - k, result(k, load_some(x + k, count - k, 0)));
}

// Numbers of scale or bias for a vector of a row, and zeros.
inline Floats load_of(const float* at, std::int64_t k, std::int64_t count) {
  return k + one_vector <= count ? load_vector(at + k) : load_some(at + k, count - k, 0);
}

// Divides by a number that has a reciprocal, where no quotient overflows. One correction makes
// this what a division rounds to, apart from rare last bits, in a fraction of its time.
inline Floats quotient(Floats x, Floats by, [[maybe_unused]] Floats inverse) {
#if defined(__FMA__)
  const Floats near = x * inverse;
  return near - (near * by - x) * inverse;
#else
  return x / by;
#endif
}
constexpr float least_divisor = 1e-30F, most_divisor = 1e30F;

// Writes the quotients of a row by a number that is not much smaller than any of them.
inline void divide(const float* x, float* y, std::int64_t count, float by) {
  constexpr std::int64_t few = 2 * one_vector;
  if (count > few && by > least_divisor && by < most_divisor) {
    const float inverse = 1.0F / by;
    map(x, y, count,
        [&](std::int64_t, Floats some) { return quotient(some, all(by), all(inverse)); });
  } else {
    map(x, y, count, [&](std::int64_t, Floats some) { return some / by; });
  }
}

struct Statistics {
  float mean, deviation;
};
inline Statistics of_sums(float mean, double squares, double share, float epsilon) {
  const auto variance = static_cast<float>(squares * share);
  return {mean, static_cast<float>(
                    __builtin_sqrt(static_cast<double>(variance) + static_cast<double>(epsilon)))};
}

// A factor stands for a quotient and a product, unless it loses what these keep: it is zero,
// subnormal, infinite or NaN.
inline bool is_factor(float factor) {
  constexpr float least = 1e-30F, most = 1e30F;
  const float size = __builtin_fabsf(factor);
  return size > least && size < most;
}
inline float factor_of(float scale, float deviation) {
  return static_cast<float>(static_cast<double>(scale) / deviation);
}

}  // namespace
}  // namespace touchstone::optimized
