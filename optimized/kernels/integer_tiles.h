// Products of 8-bit integers, exact modulo 2^32. integer_tiles.cc is compiled
// once per instruction set. A is stored as signed numbers, B as unsigned ones.
// A matrix of the other kind is stored with its highest bits inverted; its zero
// points move by 128, so that products stay the same.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Rounding of sums to 8 bits: y = saturated(round_even(sum * by) + y_zero), in float32, with by =
// row scale * column scale / y_scale.
struct Requantise {
  const float *row_scale, *column_scale;
  std::int64_t row_step, column_step;  // 0: one scale for all
  float y_scale, y_zero;
  bool is_signed;            // of y
  bool narrow;               // a sum with its bias fits 32 bits
  const std::int32_t* bias;  // added to the sums of each row; null: none
  std::uint8_t* y;           // y[m][n] is y[m * row + n]
};

// Scaling of sums to float32: y = sum * scale + bias, each rounded.
struct Scaling {
  const float *scale, *bias;           // per column; `bias` null: none
  std::int64_t scale_step, bias_step;  // 0: one for all
  float* y;                            // y[m][n] is y[m * row + n]
};

struct IntegerProduct {
  const void* a;       // rows that pack_row() wrote
  std::int64_t a_row;  // elements from row to row
  // Panels that pack_group() wrote, each `depth` times `columns` bytes. With `steps`: columns of
  // four bytes, and `steps` has the offset in bytes of each group of four rows.
  const std::uint8_t* b;
  const std::int64_t* steps;
  // Bytes from group to group within each `fours` of them; 0: they may be anywhere.
  std::int64_t step;
  std::int64_t depth;                  // a multiple of 4; with `step`, of 4 * fours
  std::int64_t columns;                // of the whole matrix
  const std::int32_t *a_zero, *a_sum;  // per row: zero point, and sum of the stored numbers
  // Per column from `first_column` on: zero point, and see rest_of().
  const std::int32_t *b_zero, *b_rest;
  std::int64_t first_column;
  bool plain;  // every column has the zero point b_zero[0], and every row 0
  // Columns are those of lines. The result has the first `width` columns of each `pitch`.
  std::int64_t pitch, width;
  std::int64_t row;  // columns from row to row of the result
  std::int32_t* c;   // null: `scaled` or `to` takes the result
  Scaling scaled;    // y null: `to` takes the result
  Requantise to;
};

struct IntegerTiles {
  std::int64_t fours;    // groups of four products that are summed at once, if `step` allows it
  std::int64_t rows;     // of A that may be read beyond the last
  std::int64_t columns;  // of a panel; at most most_columns
  std::int64_t a_bytes;  // of a stored element of A
  // Stores a row of A, padded with zeros to a multiple of four, and returns the
  // sum of the stored numbers. `flip` is 0 for signed numbers, else 128.
  std::int32_t (*pack_row)(const std::uint8_t* from, std::int64_t depth, std::uint8_t flip,
                           void* to);
  // Stores up to four rows of a panel of B, `stride` apart, and adds each
  // column's numbers to `sums`. `flip` is 0 for unsigned numbers, else 128.
  // Other columns and rows are filled with zeros.
  void (*pack_group)(const std::uint8_t* from, std::int64_t stride, std::int64_t depth,
                     std::int64_t columns, std::uint8_t flip, std::uint8_t* to, std::int32_t* sums);
  // Stores columns of four numbers, one of each row, `step` apart in the rows.
  void (*pack_pixels)(const std::uint8_t* const* rows, std::int64_t step, std::int64_t columns,
                      std::uint8_t flip, std::uint8_t* to);
  // Computes rows [first, first + rows) of the columns of one panel.
  void (*multiply)(const IntegerProduct& product, std::int64_t panel, std::int64_t first,
                   std::int64_t rows);
};

inline constexpr std::int64_t most_columns = 64;

// Zero points of the stored numbers.
inline std::int32_t stored_zero(std::int32_t zero, bool moved_up, bool moved_down) {
  return zero + (moved_up ? 128 : 0) - (moved_down ? 128 : 0);
}

// With it, a sum over k of (a - a_zero) (b - b_zero) is the sum of a b, minus
// a_zero * rest, minus a_sum * b_zero.
inline std::int32_t rest_of(std::int32_t b_sum, std::int32_t b_zero, std::int64_t depth) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(b_sum) -
                                   static_cast<std::uint32_t>(depth) *
                                       static_cast<std::uint32_t>(b_zero));
}

extern const IntegerTiles integer_tiles_sse41, integer_tiles_avx2, integer_tiles_avx512,
    integer_tiles_vnni, integer_tiles_amx;

}  // namespace touchstone::optimized
