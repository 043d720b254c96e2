// Sums of few products of 8-bit integers along rows of an image, one filter at
// a time.
//
// Compiled once per instruction set, with TOUCHSTONE_INTEGER_ROWS. Calls no
// inline function of the standard library, so that the linker cannot pick code
// for a newer processor for the rest of the program.
#include "optimized/kernels/integer_rows.h"

#include <immintrin.h>

#include "optimized/kernels/integer_rounding.h"

namespace touchstone::optimized {
namespace {

template <class T, int step>
void weigh_as(const std::uint8_t* from, std::int64_t count, std::int32_t weight,
              std::int32_t* __restrict sums) {
  const auto* const numbers = reinterpret_cast<const T*>(from);
  for (std::int64_t n = 0; n < count; ++n) sums[n] += weight * std::int32_t{numbers[n * step]};
}

template <class T>
void weigh_as(const std::uint8_t* from, std::int64_t step, std::int64_t count, std::int32_t weight,
              std::int32_t* sums) {
  if (step == 1) return weigh_as<T, 1>(from, count, weight, sums);
  if (step == 2) return weigh_as<T, 2>(from, count, weight, sums);
  const auto* const numbers = reinterpret_cast<const T*>(from);
  for (std::int64_t n = 0; n < count; ++n) sums[n] += weight * std::int32_t{numbers[n * step]};
}

void weigh(const std::uint8_t* from, std::int64_t step, std::int64_t count, bool is_signed,
           std::int32_t weight, std::int32_t* sums) {
  if (is_signed) return weigh_as<std::int8_t>(from, step, count, weight, sums);
  weigh_as<std::uint8_t>(from, step, count, weight, sums);
}

// Sixteen numbers, `step` apart: 1, or 2, which reads one number further.
inline __m128i load_apart(const std::uint8_t* from, std::int64_t step) {
  const auto* const at = reinterpret_cast<const __m128i*>(from);
  if (step == 1) return _mm_loadu_si128(at);
  const __m128i bytes = _mm_set1_epi16(0xff);
  return _mm_packus_epi16(_mm_and_si128(_mm_loadu_si128(at), bytes),
                          _mm_and_si128(_mm_loadu_si128(at + 1), bytes));
}

template <class T>
void largest_as(const std::uint8_t* from, std::int64_t step, std::int64_t count, std::uint8_t* to) {
  std::int64_t n = 0;
  if (step <= 2) {
    for (; n + 15 + step <= count; n += 16) {
      const __m128i a = load_apart(from + n * step, step);
      auto* const at = reinterpret_cast<__m128i*>(to + n);
      const __m128i b = _mm_loadu_si128(at);
      _mm_storeu_si128(at, T(-1) < T(0) ? _mm_max_epi8(a, b) : _mm_max_epu8(a, b));
    }
  }
  for (; n < count; ++n) {
    const T number = static_cast<T>(from[n * step]), held = static_cast<T>(to[n]);
    to[n] = static_cast<std::uint8_t>(number > held ? number : held);
  }
}

void largest(const std::uint8_t* from, std::int64_t step, std::int64_t count, bool is_signed,
             std::uint8_t* to) {
  if (is_signed) return largest_as<std::int8_t>(from, step, count, to);
  largest_as<std::uint8_t>(from, step, count, to);
}

#if defined(__AVX512VNNI__)
// Sums of four points: quarter q of vector i of the sums has the channels of pixel 4 q + i.
inline void add_points(const std::uint8_t* const* at, __m512i weights, __m512i* sums) {
  const __m512i p0 = _mm512_loadu_si512(at[0]), p1 = _mm512_loadu_si512(at[1]);
  const __m512i p2 = _mm512_loadu_si512(at[2]), p3 = _mm512_loadu_si512(at[3]);
  const __m512i a = _mm512_unpacklo_epi8(p0, p1), b = _mm512_unpackhi_epi8(p0, p1);
  const __m512i c = _mm512_unpacklo_epi8(p2, p3), d = _mm512_unpackhi_epi8(p2, p3);
  sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_unpacklo_epi16(a, c), weights);
  sums[1] = _mm512_dpbusd_epi32(sums[1], _mm512_unpackhi_epi16(a, c), weights);
  sums[2] = _mm512_dpbusd_epi32(sums[2], _mm512_unpacklo_epi16(b, d), weights);
  sums[3] = _mm512_dpbusd_epi32(sums[3], _mm512_unpackhi_epi16(b, d), weights);
}

// The same for one point, with zeros beside it.
inline void add_point(const std::uint8_t* at, __m512i weights, __m512i* sums) {
  const __m512i numbers = _mm512_loadu_si512(at);
  constexpr int none = -128;  // gives a zero
  for (int i = 0; i < 4; ++i) {
    const __m128i place =
        _mm_setr_epi8(static_cast<char>(4 * i), none, none, none, static_cast<char>(4 * i + 1),
                      none, none, none, static_cast<char>(4 * i + 2), none, none, none,
                      static_cast<char>(4 * i + 3), none, none, none);
    const __m512i widened = _mm512_shuffle_epi8(numbers, _mm512_broadcast_i32x4(place));
    sums[i] = _mm512_dpbusd_epi32(sums[i], widened, weights);
  }
}

void filter(const IntegerChannels& all) {
  const __m512i offsets =
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(all.offsets)));
  const __m512 by = _mm512_broadcast_f32x4(_mm_loadu_ps(all.by));
  const __m512 zero = _mm512_set1_ps(all.y_zero);
  const __m512 low = _mm512_set1_ps(all.is_signed ? -128.0F : 0.0F);
  const __m512 high = _mm512_set1_ps(all.is_signed ? 127.0F : 255.0F);
  const __m512i byte = _mm512_set1_epi32(0xff);
  const __m512i by_channel =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto rounded_sums = [&](__m512i sums) {
    const __m512 values = _mm512_cvtepi32_ps(_mm512_add_epi32(sums, offsets));
    const __m512 whole = _mm512_roundscale_ps(_mm512_mul_ps(values, by),
                                              _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 moved = _mm512_add_ps(whole, zero);
    const __m512 number = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(moved, moved, _CMP_ORD_Q), moved);
    const __m512 held = _mm512_min_ps(_mm512_max_ps(number, low), high);
    return _mm512_and_si512(_mm512_cvttps_epi32(held), byte);
  };
  for (std::int64_t n = 0; n < all.columns; n += most_columns) {
    std::uint8_t results[4][most_columns];
    const std::int64_t left = all.columns - n, count = left < most_columns ? left : most_columns;
    for (std::int64_t k = 0; k < count; k += 16) {
      const std::uint8_t* const from = all.pixels + 4 * (n + k);
      __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                         _mm512_setzero_si512()};
      const std::int8_t* weights = all.weights;
      const auto next = [&] {
        const auto* const four = reinterpret_cast<const __m128i*>(weights);
        weights += 16;
        return _mm512_broadcast_i32x4(_mm_loadu_si128(four));
      };
      const std::int64_t last = all.points - 1;
      for (std::int64_t p = 0; p < last; p += 4) {
        const auto at = [&](std::int64_t q) { return from + all.steps[q < last ? q : last]; };
        const std::uint8_t* const points[4] = {at(p), at(p + 1), at(p + 2), at(p + 3)};
        add_points(points, next(), sums);
      }
      if (last % 4 == 0) add_point(from + all.steps[last], next(), sums);
      const __m512i low_half =
          _mm512_or_si512(rounded_sums(sums[0]), _mm512_slli_epi32(rounded_sums(sums[1]), 8));
      const __m512i high_half =
          _mm512_or_si512(rounded_sums(sums[2]), _mm512_slli_epi32(rounded_sums(sums[3]), 8));
      const __m512i four = _mm512_permutexvar_epi32(
          by_channel, _mm512_or_si512(low_half, _mm512_slli_epi32(high_half, 16)));
      const auto keep = [&](int channel, __m128i numbers) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(results[channel] + k), numbers);
      };
      keep(0, _mm512_castsi512_si128(four));
      keep(1, _mm512_extracti32x4_epi32(four, 1));
      keep(2, _mm512_extracti32x4_epi32(four, 2));
      keep(3, _mm512_extracti32x4_epi32(four, 3));
    }
    each_line(all.pitch, all.width, n, count,
              [&](std::int64_t from, std::int64_t few, std::int64_t to) {
                for (std::int64_t c = 0; c < all.channels; ++c)
                  copy_few(results[c], from - n, few, all.y + c * all.row + to);
              });
  }
}
#else
constexpr auto filter = nullptr;
#endif

void round(const Requantise& to, std::int64_t m, std::int64_t row, std::int64_t n,
           std::int64_t count, const std::int32_t* sums) {
  requantise<16>(to, m, n, count, 0, sums, to.y + m * row + n);
}

}  // namespace

const IntegerRowKernels TOUCHSTONE_INTEGER_ROWS{weigh, largest, filter, round};

}  // namespace touchstone::optimized
