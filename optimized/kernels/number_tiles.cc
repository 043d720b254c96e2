// Tiles of C in registers: up to four rows by some vectors of columns. Columns that fill no vector
// are computed one by one.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_NUMBER_TILES.
// Calls no inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/number_tiles.h"

namespace touchstone::optimized {

namespace {

template <class T, int width>
struct Vector {
  using Numbers __attribute__((vector_size(width * sizeof(T)))) = T;
  using Anywhere __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias)) =
      T;
};

template <class T, int rows, int vectors, int width>
void tile(const NumberTile& p, std::int64_t row, std::int64_t column) {
  using Numbers = typename Vector<T, width>::Numbers;
  using Anywhere = typename Vector<T, width>::Anywhere;
  Numbers sums[rows][vectors] = {};
  const T* a = static_cast<const T*>(p.a) + row * p.a_row;
  const T* b = static_cast<const T*>(p.b) + column;
  for (std::int64_t k = 0; k < p.depth; ++k, a += p.a_depth, b += p.b_depth) {
    Numbers along[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) along[v] = *reinterpret_cast<const Anywhere*>(b + v * width);
#pragma GCC unroll 4
    for (int m = 0; m < rows; ++m) {
      const T factor = a[m * p.a_row];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[m][v] += factor * along[v];
    }
  }
  for (int m = 0; m < rows; ++m) {
    for (int v = 0; v < vectors; ++v) {
      T* to = static_cast<T*>(p.c) + (row + m) * p.c_row + column + v * width;
      *reinterpret_cast<Anywhere*>(to) = sums[m][v];
    }
  }
}

template <class T, int vectors, int width>
void columns(const NumberTile& p, std::int64_t column) {
  std::int64_t m = 0;
  for (; m + 4 <= p.rows; m += 4) tile<T, 4, vectors, width>(p, m, column);
  for (; m < p.rows; ++m) tile<T, 1, vectors, width>(p, m, column);
}

template <class T>
void all(const NumberTile& p) {
  constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(T);
  constexpr int vectors = TOUCHSTONE_VECTOR_BYTES == 64 ? 4 : 2;  // registers: 32, else 16
  std::int64_t n = 0;
  for (; n + vectors * lanes <= p.columns; n += vectors * lanes) columns<T, vectors, lanes>(p, n);
  for (; n + lanes <= p.columns; n += lanes) columns<T, 1, lanes>(p, n);
  for (; n < p.columns; ++n) columns<T, 1, 1>(p, n);
}

}  // namespace

void TOUCHSTONE_NUMBER_TILES(NumberKind kind, const NumberTile& tile) {
  if (kind == NumberKind::float64) return all<double>(tile);
  if (kind == NumberKind::bits32) return all<std::uint32_t>(tile);
  all<std::uint64_t>(tile);
}

}  // namespace touchstone::optimized
