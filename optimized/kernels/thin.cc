// Tiles of C in registers: up to eight rows by some vectors of columns. Columns that fill no vector
// are computed in narrower ones.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_THIN. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/thin.h"

namespace touchstone::optimized {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float);

template <int width>
struct Vector {
  using Floats __attribute__((vector_size(width * sizeof(float)))) = float;
  using Anywhere
      __attribute__((vector_size(width * sizeof(float)), aligned(alignof(float)), may_alias)) =
          float;
};

template <int rows, int vectors, int width>
void tile(const Thin& p, std::int64_t row, std::int64_t column) {
  using Floats = typename Vector<width>::Floats;
  using Anywhere = typename Vector<width>::Anywhere;
  Floats sums[rows][vectors] = {};
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column;
  for (std::int64_t k = 0; k < p.depth; ++k, a += p.a_depth, b += p.b_depth) {
    Floats along[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) along[v] = *reinterpret_cast<const Anywhere*>(b + v * width);
#pragma GCC unroll 8
    for (int m = 0; m < rows; ++m) {
      const float factor = a[m * p.a_row];
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[m][v] += factor * along[v];
    }
  }
  for (int m = 0; m < rows; ++m) {
    for (int v = 0; v < vectors; ++v) {
      float* to = p.c + (row + m) * p.c_row + column + v * width;
      *reinterpret_cast<Anywhere*>(to) = sums[m][v];
    }
  }
}

template <int vectors, int width>
void columns(const Thin& p, std::int64_t column) {
  std::int64_t m = 0;
  if constexpr (vectors == 1) {  // so many sums hide the latency of an addition
    for (; m + 8 <= p.rows; m += 8) tile<8, vectors, width>(p, m, column);
  }
  for (; m + 4 <= p.rows; m += 4) tile<4, vectors, width>(p, m, column);
  if (m + 2 <= p.rows) {
    tile<2, vectors, width>(p, m, column);
    m += 2;
  }
  if (m < p.rows) tile<1, vectors, width>(p, m, column);
}

// Covers the rest of the columns by vectors of `width` and less.
template <int width>
void narrow(const Thin& p, std::int64_t first, std::int64_t end) {
  std::int64_t n = first;
  for (; n + width <= end; n += width) columns<1, width>(p, n);
  if constexpr (width > 4) narrow<width / 2>(p, n, end);
  if constexpr (width == 4) narrow<1>(p, n, end);
}

}  // namespace

void TOUCHSTONE_THIN(const Thin& thin, std::int64_t first, std::int64_t count) {
  const std::int64_t end = first + count;
  std::int64_t n = first;
  if (thin.rows == 1) {
    for (; n + 8 * lanes <= end; n += 8 * lanes) columns<8, lanes>(thin, n);
  }
  for (; n + 2 * lanes <= end; n += 2 * lanes) columns<2, lanes>(thin, n);
  narrow<lanes>(thin, n, end);
}

}  // namespace touchstone::optimized
