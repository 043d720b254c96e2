// Tiles of products of 8-bit integers. Four numbers of a row of A are broadcast
// and multiplied by four of each column of B, which are neighbors in memory.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and
// TOUCHSTONE_INTEGER_TILES. Calls no inline function of the standard library,
// so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/integer_tiles.h"

#include <immintrin.h>

#include "optimized/kernels/integer_rounding.h"

namespace touchstone {
namespace {

#if defined(__AVX512VNNI__)
// Sums of four products in one instruction.
using Stored = std::int8_t;
using Vector = __m512i;
constexpr int vectors = 4, per_vector = 16, tile_rows = 6;
inline Vector zero() { return _mm512_setzero_si512(); }
inline Vector load_b(const std::uint8_t* b) { return _mm512_loadu_si512(b); }
inline Vector broadcast(const Stored* a) {
  int four;
  __builtin_memcpy(&four, a, sizeof four);
  return _mm512_set1_epi32(four);
}
inline Vector add_products(Vector sum, Vector b, Vector a) {
  return _mm512_dpbusd_epi32(sum, b, a);
}
inline void store(std::int32_t* to, Vector sum) { _mm512_storeu_si512(to, sum); }
#else
// Numbers are widened to 16 bits, and each column has two sums of pairs.
using Stored = std::int16_t;
inline long long four_of(const Stored* a) {
  long long four;
  __builtin_memcpy(&four, a, sizeof four);
  return four;
}
#if TOUCHSTONE_VECTOR_BYTES == 64
using Vector = __m512i;
constexpr int vectors = 4, per_vector = 8, tile_rows = 6;
inline Vector zero() { return _mm512_setzero_si512(); }
inline Vector load_b(const std::uint8_t* b) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
}
inline Vector broadcast(const Stored* a) { return _mm512_set1_epi64(four_of(a)); }
inline Vector add_products(Vector sum, Vector b, Vector a) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(b, a));
}
inline void store(std::int32_t* to, Vector sum) { _mm512_storeu_si512(to, sum); }
#elif TOUCHSTONE_VECTOR_BYTES == 32
using Vector = __m256i;
constexpr int vectors = 2, per_vector = 4, tile_rows = 6;
inline Vector zero() { return _mm256_setzero_si256(); }
inline Vector load_b(const std::uint8_t* b) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
}
inline Vector broadcast(const Stored* a) { return _mm256_set1_epi64x(four_of(a)); }
inline Vector add_products(Vector sum, Vector b, Vector a) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(b, a));
}
inline void store(std::int32_t* to, Vector sum) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum);
}
#else
using Vector = __m128i;
constexpr int vectors = 2, per_vector = 2, tile_rows = 6;
inline Vector zero() { return _mm_setzero_si128(); }
inline Vector load_b(const std::uint8_t* b) {
  return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)));
}
inline Vector broadcast(const Stored* a) { return _mm_set1_epi64x(four_of(a)); }
inline Vector add_products(Vector sum, Vector b, Vector a) {
  return _mm_add_epi32(sum, _mm_madd_epi16(b, a));
}
inline void store(std::int32_t* to, Vector sum) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), sum);
}
#endif
#endif

constexpr int panel = vectors * per_vector;
constexpr int sums_per_column = static_cast<int>(sizeof(Vector)) / 4 / per_vector;
static_assert(panel <= most_columns);

// Writes the sums of `rows` rows of A and the first `used` vectors of columns.
template <int rows, int used>
void sums_of(const Stored* a, std::int64_t a_row, const std::uint8_t* b, const std::int64_t* steps,
             std::int64_t depth, std::int32_t (*to)[panel]) {
  Vector sums[rows][used];
#pragma GCC unroll 6
  for (int m = 0; m < rows; ++m) {
#pragma GCC unroll 4
    for (int v = 0; v < used; ++v) sums[m][v] = zero();
  }
  for (std::int64_t k = 0; k < depth; k += 4) {
    const std::uint8_t* const four = b + (steps == nullptr ? k * panel : steps[k / 4]);
    Vector columns[used];
#pragma GCC unroll 4
    for (int v = 0; v < used; ++v) columns[v] = load_b(four + 4 * per_vector * v);
#pragma GCC unroll 6
    for (int m = 0; m < rows; ++m) {
      const Vector weights = broadcast(a + m * a_row + k);
#pragma GCC unroll 4
      for (int v = 0; v < used; ++v) sums[m][v] = add_products(sums[m][v], columns[v], weights);
    }
  }
  // Loops over registers are unrolled, or a compiler would keep the sums in
  // memory.
  if constexpr (sums_per_column == 1) {
#pragma GCC unroll 6
    for (int m = 0; m < rows; ++m) {
#pragma GCC unroll 4
      for (int v = 0; v < used; ++v) store(to[m] + v * per_vector, sums[m][v]);
    }
    return;
  }
  std::int32_t partial[rows][used * per_vector * sums_per_column];
#pragma GCC unroll 6
  for (int m = 0; m < rows; ++m) {
#pragma GCC unroll 4
    for (int v = 0; v < used; ++v) store(partial[m] + v * per_vector * sums_per_column, sums[m][v]);
  }
  for (int m = 0; m < rows; ++m) {
    for (int n = 0; n < used * per_vector; ++n) {
      std::uint32_t sum = 0;
      for (int part = 0; part < sums_per_column; ++part)
        sum += static_cast<std::uint32_t>(partial[m][n * sums_per_column + part]);
      to[m][n] = static_cast<std::int32_t>(sum);
    }
  }
}

using Sums = void (*)(const Stored*, std::int64_t, const std::uint8_t*, const std::int64_t*,
                      std::int64_t, std::int32_t (*)[panel]);
template <int rows>
Sums sums_for(int used) {
  if constexpr (vectors == 4) {
    if (used == 3) return sums_of<rows, 3>;
    if (used == 4) return sums_of<rows, 4>;
  }
  return used == 1 ? sums_of<rows, 1> : sums_of<rows, 2>;
}
Sums sums_for(std::int64_t rows, int used) {
  switch (rows) {
    case 1:
      return sums_for<1>(used);
    case 2:
      return sums_for<2>(used);
    case 3:
      return sums_for<3>(used);
    case 4:
      return sums_for<4>(used);
    case 5:
      return sums_for<5>(used);
    default:
      return sums_for<tile_rows>(used);
  }
}

void scale_row(const IntegerProduct& product, std::int64_t m, std::int64_t n, std::int64_t count,
               const std::int32_t* __restrict sums) {
  const Scaling& by = product.scaled;
  float* __restrict const y = by.y + m * product.row + n;
  const float* const scale = by.scale + n * by.scale_step;
  if (by.scale_step == 0) {
    const float one = *scale;
    for (std::int64_t k = 0; k < count; ++k) y[k] = static_cast<float>(sums[k]) * one;
  } else {
    for (std::int64_t k = 0; k < count; ++k) y[k] = static_cast<float>(sums[k]) * scale[k];
  }
  if (by.bias == nullptr) return;
  const float* const bias = by.bias + n * by.bias_step;
  if (by.bias_step == 0) {
    const float one = *bias;
    for (std::int64_t k = 0; k < count; ++k) y[k] = y[k] + one;
  } else {
    for (std::int64_t k = 0; k < count; ++k) y[k] = y[k] + bias[k];
  }
}

// Rounds a row of sums, each plus `offset`.
void round_row(const IntegerProduct& product, std::int64_t m, std::int64_t n, std::int64_t count,
               std::int32_t offset, const std::int32_t* sums) {
  constexpr int block = panel < 16 ? panel : 16;
  std::uint8_t* const y = product.to.y + m * product.row;
  if (product.pitch == product.width)
    return requantise<block>(product.to, m, n, count, offset, sums, y + n);
  std::uint8_t rounded[panel];
  requantise<block>(product.to, m, n, count, offset, sums, rounded);
  each_line(product.pitch, product.width, n, count,
            [&](std::int64_t from, std::int64_t few, std::int64_t to) {
              copy_few(rounded + (from - n), few, y + to);
            });
}

void finish_row(const IntegerProduct& product, std::int64_t m, std::int64_t n, std::int64_t count,
                std::int32_t* __restrict sums) {
  const auto zero_point = static_cast<std::uint32_t>(product.a_zero[m]);
  const auto sum_of_row = static_cast<std::uint32_t>(product.a_sum[m]);
  const bool rounds = product.c == nullptr && product.scaled.y == nullptr;
  if (product.plain) {
    const std::uint32_t fixed = sum_of_row * static_cast<std::uint32_t>(product.b_zero[0]);
    if (rounds) return round_row(product, m, n, count, static_cast<std::int32_t>(0 - fixed), sums);
    for (std::int64_t k = 0; k < count; ++k)
      sums[k] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[k]) - fixed);
  } else {
    const std::int32_t* const rest = product.b_rest + (n - product.first_column);
    const std::int32_t* const zero = product.b_zero + (n - product.first_column);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto sum = static_cast<std::uint32_t>(sums[k]) -
                       zero_point * static_cast<std::uint32_t>(rest[k]) -
                       sum_of_row * static_cast<std::uint32_t>(zero[k]);
      sums[k] = static_cast<std::int32_t>(sum);
    }
  }
  if (rounds) return round_row(product, m, n, count, 0, sums);
  if (product.c == nullptr) return scale_row(product, m, n, count, sums);
  std::int32_t* const c = product.c + m * product.row;
  each_line(product.pitch, product.width, n, count,
            [&](std::int64_t from, std::int64_t few, std::int64_t to) {
              for (std::int64_t k = 0; k < few; ++k) c[to + k] = sums[from - n + k];
            });
}

void multiply(const IntegerProduct& product, std::int64_t at, std::int64_t first,
              std::int64_t rows) {
  const std::int64_t n = at * panel, left = product.columns - n;
  const std::int64_t count = left < panel ? left : panel;
  const int used = static_cast<int>((count + per_vector - 1) / per_vector);
  const std::uint8_t* const b =
      product.b + (product.steps == nullptr ? at * product.depth * panel : 4 * n);
  const auto* const a = static_cast<const Stored*>(product.a);
  for (std::int64_t m = first; m < first + rows; m += tile_rows) {
    const std::int64_t some = first + rows - m < tile_rows ? first + rows - m : tile_rows;
    std::int32_t sums[tile_rows][panel];
    sums_for(some, used)(a + m * product.a_row, product.a_row, b, product.steps, product.depth,
                         sums);
    for (std::int64_t i = 0; i < some; ++i) finish_row(product, m + i, n, count, sums[i]);
  }
}

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

const IntegerTiles TOUCHSTONE_INTEGER_TILES{panel,      sizeof(Stored), pack_row,
                                            pack_group, pack_pixels,    multiply};

}  // namespace touchstone
