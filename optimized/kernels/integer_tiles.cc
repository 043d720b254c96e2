// Tiles of products of 8-bit integers. Four numbers of a row of A are broadcast
// and multiplied by four of each column of B, which are neighbors in memory.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and
// TOUCHSTONE_INTEGER_TILES. Calls no inline function of the standard library,
// so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/integer_tiles.h"

#include <immintrin.h>

#include "optimized/kernels/integer_packing.h"
#include "optimized/kernels/integer_rounding.h"

namespace touchstone::optimized {
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
              copy_few(rounded, from - n, few, y + to);
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

#ifdef __AMX_INT8__
constexpr std::int64_t fours = 16, rows_beyond = 31;

// Shapes of the tile registers: rows of 64 bytes, sixteen each.
struct TileShapes {
  alignas(64) std::uint8_t palette = 1;
  std::uint8_t start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

// Sums of 32 rows of A and 32 columns, in tile registers. `wide`: more than sixteen columns;
// `high`: more than sixteen rows.
inline void tiles_of(const IntegerProduct& product, const Stored* a, const std::uint8_t* b,
                     bool wide, bool high, std::int32_t* to) {
  const std::int64_t a_row = product.a_row, step = product.step;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t k = 0; k < product.depth; k += 4 * fours) {
    const std::uint8_t* const columns =
        b + (product.steps == nullptr ? k * panel : product.steps[k / 4]);
    _tile_loadd(4, a + k, a_row);
    _tile_loadd(6, columns, step);
    _tile_dpbsud(0, 4, 6);
    if (wide) {
      _tile_loadd(7, columns + 64, step);
      _tile_dpbsud(1, 4, 7);
    }
    if (!high) continue;
    _tile_loadd(5, a + 16 * a_row + k, a_row);
    _tile_dpbsud(2, 5, 6);
    if (wide) _tile_dpbsud(3, 5, 7);
  }
  constexpr std::int64_t row = 4 * panel;
  _tile_stored(0, to, row);
  _tile_stored(1, to + 16, row);
  _tile_stored(2, to + 16 * panel, row);
  _tile_stored(3, to + 16 * panel + 16, row);
}

void multiply_tiles(const IntegerProduct& product, std::int64_t at, std::int64_t first,
                    std::int64_t rows) {
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  const std::int64_t n = at * panel, left = product.columns - n;
  const std::int64_t count = left < panel ? left : panel;
  const std::uint8_t* const b =
      product.b + (product.steps == nullptr ? at * product.depth * panel : 4 * n);
  const auto* const a = static_cast<const Stored*>(product.a);
  for (std::int64_t m = first; m < first + rows; m += 32) {
    const std::int64_t some = first + rows - m < 32 ? first + rows - m : 32;
    alignas(64) std::int32_t sums[32][panel];
    for (std::int64_t k = 0; k < count; k += 32)
      tiles_of(product, a + m * product.a_row, b + 4 * k, count - k > 16, some > 16, sums[0] + k);
    for (std::int64_t i = 0; i < some; ++i) finish_row(product, m + i, n, count, sums[i]);
  }
  _tile_release();
}
#else
constexpr std::int64_t fours = 1, rows_beyond = 0;
#endif

void multiply(const IntegerProduct& product, std::int64_t at, std::int64_t first,
              std::int64_t rows) {
#ifdef __AMX_INT8__
  constexpr std::int64_t least_rows = 8;
  if (product.step != 0 && rows >= least_rows) return multiply_tiles(product, at, first, rows);
#endif
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

}  // namespace

const IntegerTiles TOUCHSTONE_INTEGER_TILES{
    fours, rows_beyond, panel, sizeof(Stored), pack_row<Stored>, pack_group, pack_pixels, multiply};

}  // namespace touchstone::optimized
