// RowRounding of sums of products to 8 bits. Included by kernels that are compiled
// once per instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "optimized/kernels/integer_tiles.h"

namespace touchstone::optimized {
namespace {

// Copies a few of `most` bytes by pairs of moves that overlap.
template <int most>
void copy_few(const std::uint8_t (&held)[most], std::int64_t first, std::int64_t count,
              std::uint8_t* to) {
  const std::uint8_t* const from = held + first;
  if constexpr (most >= 16) {
    if (count >= 16) {
      std::int64_t k = 0;
      for (; k + 16 < count; k += 16) __builtin_memcpy(to + k, from + k, 16);
      __builtin_memcpy(to + count - 16, from + count - 16, 16);
      return;
    }
  }
  if constexpr (most >= 8) {
    if (count >= 8) {
      __builtin_memcpy(to, from, 8);
      __builtin_memcpy(to + count - 8, from + count - 8, 8);
      return;
    }
  }
  if (count >= 4) {
    __builtin_memcpy(to, from, 4);
    __builtin_memcpy(to + count - 4, from + count - 4, 4);
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) to[k] = from[k];
}

// Numbers that round a row: y = held(round_even(sum * by) + zero).
struct RowRounding {
  explicit RowRounding(const Requantise& to, float by)
      : by(by),
        zero(to.y_zero),
        low(to.is_signed ? -128.0F : 0.0F),
        high(to.is_signed ? 127.0F : 255.0F) {}
  std::uint8_t of(float sum) const {
    const float moved = __builtin_rintf(sum * by) + zero;
    const float raised = moved < low ? low : moved, held = raised > high ? high : raised;
    return static_cast<std::uint8_t>(static_cast<std::int32_t>(held));
  }
  float by, zero, low, high;
};

// Rounds `count` sums and an offset, in blocks, which compilers make one vector each. Sums of the
// last block must exist.
template <int block>
void round_blocks(const RowRounding& given, std::int32_t offset, std::int64_t count,
                  const std::int32_t* __restrict sums, std::uint8_t* __restrict y) {
  const RowRounding by = given;
  const auto one = [&](std::int64_t k, std::uint8_t* __restrict to) {
#ifdef __AVX512F__
    if constexpr (block == 16) {
      const __m512i whole =
          _mm512_add_epi32(_mm512_loadu_si512(sums + k), _mm512_set1_epi32(offset));
      const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(by.by));
      const __m512 moved = _mm512_add_ps(
          _mm512_roundscale_ps(product, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm512_set1_ps(by.zero));
      const __m512 held =
          _mm512_min_ps(_mm512_max_ps(moved, _mm512_set1_ps(by.low)), _mm512_set1_ps(by.high));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                       _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(held)));
      return;
    }
#endif
    for (int i = 0; i < block; ++i) {
      const auto sum = static_cast<std::uint32_t>(sums[k + i]) + static_cast<std::uint32_t>(offset);
      to[i] = by.of(static_cast<float>(static_cast<std::int32_t>(sum)));
    }
  };
  std::int64_t k = 0;
  for (; k + block <= count; k += block) one(k, y + k);
  if (k == count) return;
  std::uint8_t last[block];
  one(k, last);
  copy_few(last, 0, count - k, y + k);
}

// Rounds sums of row m, each plus `offset`, of the columns from `n` on. Sums up to the end of a
// block exist.
template <int block>
void requantise(const Requantise& to, std::int64_t m, std::int64_t n, std::int64_t count,
                std::int32_t offset, const std::int32_t* __restrict sums,
                std::uint8_t* __restrict y) {
  const float row_scale = to.row_scale[m * to.row_step];
  const std::int32_t bias = to.bias == nullptr ? 0 : to.bias[m];
  if (to.column_step == 0 && to.narrow) {
    const RowRounding by(to, row_scale * to.column_scale[0] / to.y_scale);
    if (by.by - by.by == 0) {
      const auto both = static_cast<std::uint32_t>(bias) + static_cast<std::uint32_t>(offset);
      return round_blocks<block>(by, static_cast<std::int32_t>(both), count, sums, y);
    }
  }
  float by[most_columns], values[most_columns];
  for (std::int64_t k = 0; k < count; ++k)
    by[k] = row_scale * to.column_scale[to.column_step * (n + k)] / to.y_scale;
  for (std::int64_t k = 0; k < count; ++k)
    values[k] = static_cast<float>(std::int64_t{bias} + offset + sums[k]) * by[k];
  const RowRounding whole(to, 1);
  for (std::int64_t k = 0; k < count; ++k)
    y[k] = values[k] == values[k] ? whole.of(values[k]) : std::uint8_t{0};
}

// Calls f(first column, count, first column of the result) for the columns [n, n + count) that the
// result has: the first `width` of each `pitch`.
template <class F>
inline void each_line(std::int64_t pitch, std::int64_t width, std::int64_t n, std::int64_t count,
                      F f) {
  if (pitch == width) return f(n, count, n);
  std::int64_t line = n / pitch, at = n - line * pitch;
  for (const std::int64_t end = n + count; n < end; ++line, at = 0) {
    const std::int64_t left = end - n, whole = pitch - at;
    const std::int64_t length = left < whole ? left : whole, inside = width - at;
    if (inside > 0) f(n, length < inside ? length : inside, line * width + at);
    n += length;
  }
}

}  // namespace
}  // namespace touchstone::optimized
