// Packed operands of products of 8-bit integers.
#include "optimized/lowering/integer_product.h"

#include <algorithm>

#include "core/checked.h"
#include "reference/lists.h"

namespace touchstone {

const IntegerTiles& integer_tiles(Isa isa, bool dots) {
  switch (isa) {
    case Isa::sse41:
      return integer_tiles_sse41;
    case Isa::avx2:
      return integer_tiles_avx2;
    case Isa::avx512:
      return dots ? integer_tiles_vnni : integer_tiles_avx512;
  }
  BUG("an instruction set without integer tiles");
}

bool processor_has_integer_dots(Isa isa) {
#ifdef __x86_64__
  return isa == Isa::avx512 && processor_has(isa) && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

const IntegerTiles& integer_tiles() {
  static const IntegerTiles& chosen =
      integer_tiles(chosen_isa(), processor_has_integer_dots(chosen_isa()));
  return chosen;
}

const IntegerRowKernels& integer_rows(Isa isa, bool dots) {
  switch (isa) {
    case Isa::sse41:
      return integer_rows_sse41;
    case Isa::avx2:
      return integer_rows_avx2;
    case Isa::avx512:
      return dots ? integer_rows_vnni : integer_rows_avx512;
  }
  BUG("an instruction set without integer rows");
}

const IntegerRowKernels& integer_rows() {
  static const IntegerRowKernels& chosen =
      integer_rows(chosen_isa(), processor_has_integer_dots(chosen_isa()));
  return chosen;
}

void PackedRows::reserve(Index rows, Index depth) {
  depth_ = depth;
  stored_ = multiply(ceil_div(depth, 4), 4);
  rows_ = rows_memory_.at<std::byte>(multiply(multiply(rows, stored_), integer_tiles().a_bytes));
  zeros_ = numbers_memory_.at<std::int32_t>(multiply(rows, 2));
  sums_ = zeros_ + rows;
}

void PackedRows::pack(Index m, const std::uint8_t* from, bool is_signed) {
  const IntegerTiles& tiles = integer_tiles();
  sums_[m] = tiles.pack_row(from, depth_, is_signed ? 0 : 128, rows_ + m * stored_ * tiles.a_bytes);
}

const void* PackedRows::row(Index m) const { return rows_ + m * stored_ * integer_tiles().a_bytes; }

void PackedColumns::reserve(Index matrices, Index depth, Index columns) {
  const IntegerTiles& tiles = integer_tiles();
  depth_ = depth;
  columns_ = columns;
  panels_ = ceil_div(columns, tiles.columns);
  matrix_bytes_ = multiply(multiply(ceil_div(depth, 4), 4), multiply(panels_, tiles.columns));
  panels_memory_ = panels_scratch_.at<std::uint8_t>(multiply(matrices, matrix_bytes_));
  sums_ = sums_scratch_.at<std::int32_t>(multiply(matrices, columns));
}

void PackedColumns::pack(Index matrix, Index panel, const std::uint8_t* from, Index stride,
                         bool is_signed) {
  const IntegerTiles& tiles = integer_tiles();
  const Index n = panel * tiles.columns, count = std::min(tiles.columns, columns_ - n);
  std::int32_t* const sums = sums_ + matrix * columns_ + n;
  std::fill_n(sums, count, 0);
  std::uint8_t* to =
      panels_memory_ + matrix * matrix_bytes_ + panel * ceil_div(depth_, 4) * 4 * tiles.columns;
  for (Index k = 0; k < depth_; k += 4, to += 4 * tiles.columns) {
    tiles.pack_group(from + k * stride + n, stride, std::min<Index>(4, depth_ - k), count,
                     is_signed ? 128 : 0, to, sums);
  }
}

}  // namespace touchstone
