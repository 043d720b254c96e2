// Products of 8-bit integers, exact modulo 2^32. integer_tiles.cc is compiled once per instruction
// set. A is stored as signed numbers, B as unsigned ones. A matrix of the other kind is stored with
// its highest bits inverted; its zero points move by 128, so that products stay the same.
#pragma once

#include <cstdint>

namespace touchstone {

// Rounding of sums to 8 bits: y = saturated(round_even(sum * by) + y_zero), in float32, with by =
// row scale * column scale / y_scale.
struct Requantise {
  const float *row_scale, *column_scale;
  std::int64_t row_step, column_step;  // 0: one scale for all
  float y_scale, y_zero;
  bool is_signed;            // of y
  const std::int32_t* bias;  // added to the sums of each row; null: none
  std::uint8_t* y;           // y[m][n] is y[m * row + n]
};

struct IntegerProduct {
  const void* a;          // rows that pack_row() wrote
  std::int64_t a_row;     // elements from row to row
  const std::uint8_t* b;  // panels that pack_group() wrote, each `depth` times `columns` bytes
  std::int64_t depth;     // a multiple of 4
  std::int64_t columns;   // of the whole matrix
  const std::int32_t *a_zero, *a_sum;   // per row: zero point, and sum of the stored numbers
  const std::int32_t *b_zero, *b_rest;  // per column: zero point, and see rest_of()
  std::int64_t row;                     // columns from row to row of the result
  std::int32_t* c;                      // null: `to` takes the result
  Requantise to;
};

struct IntegerTiles {
  std::int64_t columns;  // of a panel; at most most_columns
  std::int64_t a_bytes;  // of a stored element of A
  // Stores a row of A, padded with zeros to a multiple of four, and returns the sum of the stored
  // numbers. `flip` is 0 for signed numbers, else 128.
  std::int32_t (*pack_row)(const std::uint8_t* from, std::int64_t depth, std::uint8_t flip,
                           void* to);
  // Stores up to four rows of a panel of B, `stride` apart, and adds each column's numbers to
  // `sums`. `flip` is 0 for unsigned numbers, else 128. Other columns and rows are filled with
  // zeros.
  void (*pack_group)(const std::uint8_t* from, std::int64_t stride, std::int64_t depth,
                     std::int64_t columns, std::uint8_t flip, std::uint8_t* to, std::int32_t* sums);
  // Computes rows [first, first + rows) of the columns of one panel.
  void (*multiply)(const IntegerProduct& product, std::int64_t panel, std::int64_t first,
                   std::int64_t rows);
  // sums[n] += weight * from[n * step], of signed or unsigned numbers.
  void (*weigh)(const std::uint8_t* from, std::int64_t step, std::int64_t count, bool is_signed,
                std::int32_t weight, std::int32_t* sums);
  // Rounds sums of row m from column n on; at most most_columns.
  void (*round)(const Requantise& to, std::int64_t m, std::int64_t row, std::int64_t n,
                std::int64_t count, const std::int32_t* sums);
};

inline constexpr std::int64_t most_columns = 64;

// Zero points of the stored numbers.
inline std::int32_t stored_zero(std::int32_t zero, bool moved_up, bool moved_down) {
  return zero + (moved_up ? 128 : 0) - (moved_down ? 128 : 0);
}

// With it, a sum over k of (a - a_zero) (b - b_zero) is the sum of a b, minus a_zero * rest, minus
// a_sum * b_zero.
inline std::int32_t rest_of(std::int32_t b_sum, std::int32_t b_zero, std::int64_t depth) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(b_sum) -
                                   static_cast<std::uint32_t>(depth) *
                                       static_cast<std::uint32_t>(b_zero));
}

extern const IntegerTiles integer_tiles_sse41, integer_tiles_avx2, integer_tiles_avx512,
    integer_tiles_vnni;

}  // namespace touchstone
