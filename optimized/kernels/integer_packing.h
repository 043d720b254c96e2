// Packing of rows of A and of columns of B for products of 8-bit integers. Included by kernels that
// are compiled once per instruction set.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace touchstone {
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

void pack_pixels(const std::uint8_t* const* rows, std::int64_t step, std::int64_t columns,
                 std::uint8_t flip, std::uint8_t* to) {
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
}  // namespace touchstone
