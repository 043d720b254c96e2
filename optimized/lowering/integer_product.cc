// Packed operands of products of 8-bit integers.
#include "optimized/lowering/integer_product.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstring>

#include "core/checked.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

// Asks the system for the tile registers, which programs must do once.
bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr unsigned tiles = 1U << 24 | 1U << 25;  // of leaf 7: the registers, and 8-bit products
  constexpr int ask = 0x1023, tile_data = 18;      // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & tiles) == tiles &&
         syscall(SYS_arch_prctl, ask, tile_data) == 0;
#else
  return false;
#endif
}

IntegerDots chosen_dots() {
  static const IntegerDots chosen =
      processor_has(IntegerDots::tiles, chosen_isa())     ? IntegerDots::tiles
      : processor_has(IntegerDots::vectors, chosen_isa()) ? IntegerDots::vectors
                                                          : IntegerDots::none;
  return chosen;
}

}  // namespace

bool processor_has(IntegerDots dots, Isa isa) {
  if (dots == IntegerDots::none) return processor_has(isa);
#ifdef __x86_64__
  if (isa != Isa::avx512 || !is_built(isa) || !processor_has(isa) ||
      !__builtin_cpu_supports("avx512vnni"))
    return false;
  static const bool tiles = may_use_tiles();
  return dots == IntegerDots::vectors || tiles;
#else
  return false;
#endif
}

const IntegerTiles& integer_tiles(Isa isa, IntegerDots dots) {
  if (dots == IntegerDots::tiles) return TOUCHSTONE_OF_ISA(integer_tiles, amx, );
  if (dots == IntegerDots::vectors) return TOUCHSTONE_OF_ISA(integer_tiles, vnni, );
  return BY_ISA(isa, integer_tiles);
}

const IntegerTiles& integer_tiles() {
  static const IntegerTiles& chosen = integer_tiles(chosen_isa(), chosen_dots());
  return chosen;
}

const IntegerRowKernels& integer_rows() {
  if (chosen_dots() != IntegerDots::none) return TOUCHSTONE_OF_ISA(integer_rows, vnni, );
  return BY_ISA(chosen_isa(), integer_rows);
}

void PackedRows::reserve(Index rows, Index depth, Index fours) {
  depth_ = depth;
  const IntegerTiles& tiles = integer_tiles();
  stored_ = multiply(ceil_div(depth, 4 * fours), 4 * fours);
  rows_ =
      rows_memory_.at<std::byte>(multiply(multiply(add(rows, tiles.rows), stored_), tiles.a_bytes));
  zeros_ = numbers_memory_.at<std::int32_t>(multiply(rows, 2));
  sums_ = zeros_ + rows;
}

void PackedRows::pack(Index m, const std::uint8_t* from, bool is_signed) {
  const IntegerTiles& tiles = integer_tiles();
  std::byte* const row = rows_ + m * stored_ * tiles.a_bytes;
  sums_[m] = tiles.pack_row(from, depth_, is_signed ? 0 : 128, row);
  const Index packed = ceil_div(depth_, 4) * 4;
  std::memset(row + packed * tiles.a_bytes, 0,
              static_cast<std::size_t>((stored_ - packed) * tiles.a_bytes));
}

const void* PackedRows::row(Index m) const { return rows_ + m * stored_ * integer_tiles().a_bytes; }

void PackedColumns::reserve(Index matrices, Index depth, Index columns) {
  const IntegerTiles& tiles = integer_tiles();
  depth_ = depth;
  columns_ = columns;
  panels_ = ceil_div(columns, tiles.columns);
  stored_ = multiply(ceil_div(depth, 4 * tiles.fours), 4 * tiles.fours);
  matrix_bytes_ = multiply(stored_, multiply(panels_, tiles.columns));
  panels_memory_ = panels_scratch_.at<std::uint8_t>(multiply(matrices, matrix_bytes_));
  sums_ = sums_scratch_.at<std::int32_t>(multiply(matrices, columns));
}

void PackedColumns::pack(Index matrix, Index panel, const std::uint8_t* from, Index stride,
                         bool is_signed) {
  const IntegerTiles& tiles = integer_tiles();
  const Index n = panel * tiles.columns, count = std::min(tiles.columns, columns_ - n);
  std::int32_t* const sums = sums_ + matrix * columns_ + n;
  std::fill_n(sums, count, 0);
  std::uint8_t* to = panels_memory_ + matrix * matrix_bytes_ + panel * stored_ * tiles.columns;
  for (Index k = 0; k < depth_; k += 4, to += 4 * tiles.columns) {
    tiles.pack_group(from + k * stride + n, stride, std::min<Index>(4, depth_ - k), count,
                     is_signed ? 128 : 0, to, sums);
  }
  const Index rest = stored_ - ceil_div(depth_, 4) * 4;  // A has zeros there
  std::memset(to, 0, static_cast<std::size_t>(rest * tiles.columns));
}

}  // namespace touchstone::optimized
