// Packing of rows of A and of columns of B for products of 8-bit integers. Included by kernels that
// are compiled once per instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace touchstone::optimized {
namespace {

template <class Stored>
std::int32_t pack_row(const std::uint8_t* from, std::int64_t depth, std::uint8_t flip, void* to) {
  auto* const row = static_cast<Stored*>(to);
  std::int32_t sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto number = static_cast<std::int8_t>(from[k] ^ flip);
    row[k] = number;
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                    static_cast<std::uint32_t>(std::int32_t{number}));
  }
  for (std::int64_t k = depth; k % 4 != 0; ++k) row[k] = 0;
  return sum;
}

// Stores sixteen columns of four rows.
inline void interleave(__m128i r0, __m128i r1, __m128i r2, __m128i r3, std::uint8_t* to) {
  const __m128i a = _mm_unpacklo_epi8(r0, r1), b = _mm_unpackhi_epi8(r0, r1);
  const __m128i c = _mm_unpacklo_epi8(r2, r3), d = _mm_unpackhi_epi8(r2, r3);
  auto* const out = reinterpret_cast<__m128i*>(to);
  _mm_storeu_si128(out, _mm_unpacklo_epi16(a, c));
  _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(a, c));
  _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(b, d));
  _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(b, d));
}

// Stores four columns of four rows, from column n on.
inline void interleave_four(const std::uint8_t* const* rows, std::int64_t n, __m128i flip,
                            std::uint8_t* to) {
  const auto row = [&](int k) {
    int four;
    __builtin_memcpy(&four, rows[k] + n, sizeof four);
    return _mm_cvtsi32_si128(four);
  };
  const __m128i a = _mm_unpacklo_epi8(row(0), row(1)), b = _mm_unpacklo_epi8(row(2), row(3));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_xor_si128(_mm_unpacklo_epi16(a, b), flip));
}

// Loads sixteen numbers, two apart. Reads one number further.
inline __m128i load_even(const std::uint8_t* from) {
  const __m128i bytes = _mm_set1_epi16(0xff);
  const auto* const at = reinterpret_cast<const __m128i*>(from);
  return _mm_packus_epi16(_mm_and_si128(_mm_loadu_si128(at), bytes),
                          _mm_and_si128(_mm_loadu_si128(at + 1), bytes));
}

#ifdef __AVX512BW__
// Mask of the first `count` of 64 bytes.
inline __mmask64 first_bytes(std::int64_t count) {
  return count >= 64 ? ~std::uint64_t{0} : count <= 0 ? 0 : (std::uint64_t{1} << count) - 1;
}

// At most 64 numbers, `step` apart: 1 or 2.
inline __m512i load_columns(const std::uint8_t* from, std::int64_t step, std::int64_t count) {
  if (step == 1) return _mm512_maskz_loadu_epi8(first_bytes(count), from);
  const std::int64_t bytes = 2 * count - 1;
  const __m512i low = _mm512_maskz_loadu_epi8(first_bytes(bytes), from);
  const __m512i high = _mm512_maskz_loadu_epi8(first_bytes(bytes - 64), from + 64);
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(low)),
                            _mm512_cvtepi16_epi8(high), 1);
}

// Stores at most 64 columns of four rows.
inline void interleave_columns(const __m512i* rows, std::int64_t count, std::uint8_t* to) {
  const __m512i a = _mm512_unpacklo_epi8(rows[0], rows[1]);
  const __m512i b = _mm512_unpackhi_epi8(rows[0], rows[1]);
  const __m512i c = _mm512_unpacklo_epi8(rows[2], rows[3]);
  const __m512i d = _mm512_unpackhi_epi8(rows[2], rows[3]);
  // Quarter q of vector i has the columns from 16 q + 4 i on.
  const __m512i v0 = _mm512_unpacklo_epi16(a, c), v1 = _mm512_unpackhi_epi16(a, c);
  const __m512i v2 = _mm512_unpacklo_epi16(b, d), v3 = _mm512_unpackhi_epi16(b, d);
  const __m512i low01 = _mm512_shuffle_i32x4(v0, v1, 0x44);
  const __m512i low23 = _mm512_shuffle_i32x4(v2, v3, 0x44);
  const __m512i high01 = _mm512_shuffle_i32x4(v0, v1, 0xee);
  const __m512i high23 = _mm512_shuffle_i32x4(v2, v3, 0xee);
  const auto keep = [&](std::int64_t from, __m512i columns) {
    const auto some = static_cast<__mmask16>(first_bytes(count - from));
    _mm512_mask_storeu_epi32(to + 4 * from, some, columns);
  };
  keep(0, _mm512_shuffle_i32x4(low01, low23, 0x88));
  keep(16, _mm512_shuffle_i32x4(low01, low23, 0xdd));
  keep(32, _mm512_shuffle_i32x4(high01, high23, 0x88));
  keep(48, _mm512_shuffle_i32x4(high01, high23, 0xdd));
}
#endif

void pack_pixels(const std::uint8_t* const* rows, std::int64_t step, std::int64_t columns,
                 std::uint8_t flip, std::uint8_t* to) {
#ifdef __AVX512BW__
  if (step <= 2) {
    const __m512i wide_bits = _mm512_set1_epi8(static_cast<char>(flip));
    for (std::int64_t from = 0; from < columns; from += 64) {
      const std::int64_t left = columns - from, some = left < 64 ? left : 64;
      __m512i numbers[4];
      for (int k = 0; k < 4; ++k)
        numbers[k] = _mm512_xor_si512(load_columns(rows[k] + from * step, step, some), wide_bits);
      interleave_columns(numbers, some, to + 4 * from);
    }
    return;
  }
#endif
  const __m128i bits = _mm_set1_epi8(static_cast<char>(flip));
  std::int64_t n = 0;
  const auto vectors_of = [&](auto load, std::int64_t most) {
    for (; n < columns && columns >= most; n += 16) {
      if (n + most > columns) n = columns - most;  // overlaps the vector before
      const auto row = [&](int k) { return _mm_xor_si128(load(rows[k] + n * step), bits); };
      interleave(row(0), row(1), row(2), row(3), to + 4 * n);
      if (most > 16 && n + most == columns) {
        n += 16;
        break;
      }
    }
  };
  if (step == 1) {
    vectors_of(
        [](const std::uint8_t* from) {
          return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        },
        16);
    if (n < columns && columns >= 4) {
      for (; n < columns; n += 4) {
        if (n + 4 > columns) n = columns - 4;
        interleave_four(rows, n, bits, to + 4 * n);
      }
    }
  } else if (step == 2) {
    vectors_of(load_even, 17);
  }
  for (; n < columns; ++n) {
    for (int k = 0; k < 4; ++k) to[4 * n + k] = static_cast<std::uint8_t>(rows[k][n * step] ^ flip);
  }
}

void pack_group(const std::uint8_t* from, std::int64_t stride, std::int64_t depth,
                std::int64_t columns, std::uint8_t flip, std::uint8_t* to, std::int32_t* sums) {
  std::int64_t n = 0;
  if (depth == 4) {
    const std::uint8_t* const rows[4] = {from, from + stride, from + 2 * stride, from + 3 * stride};
    const __m128i bits = _mm_set1_epi8(static_cast<char>(flip));
    for (; n + 16 <= columns; n += 16) {
      const auto row = [&](int k) {
        return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[k] + n)), bits);
      };
      interleave(row(0), row(1), row(2), row(3), to + 4 * n);
    }
    for (; n + 4 <= columns; n += 4) interleave_four(rows, n, bits, to + 4 * n);
  }
  for (; n < columns; ++n) {
    for (std::int64_t k = 0; k < 4; ++k) {
      to[4 * n + k] =
          k < depth ? static_cast<std::uint8_t>(from[k * stride + n] ^ flip) : std::uint8_t{0};
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::uint8_t* const row = from + k * stride;
    for (n = 0; n < columns; ++n)
      sums[n] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[n]) +
                                          static_cast<std::uint32_t>(row[n] ^ flip));
  }
}

}  // namespace
}  // namespace touchstone::optimized
