// Products of small matrices of float64 and integers that are read in place: B has contiguous rows.
// number_tiles.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Integers compute modulo 2^32 and 2^64.
enum class NumberKind { float64, bits32, bits64 };

// Strides are in elements.
struct NumberTile {
  const void* a;  // A[m][k] is a[m * a_row + k * a_depth]
  std::int64_t a_row, a_depth;
  const void* b;  // B[k][n] is b[k * b_depth + n]
  std::int64_t b_depth;
  void* c;  // C[m][n] is c[m * c_row + n]
  std::int64_t c_row;
  std::int64_t rows, columns, depth;
};

// Computes all of C, each sum in the order of the depth.
using NumberTileKernel = void (*)(NumberKind kind, const NumberTile& tile);
void number_tiles_sse41(NumberKind kind, const NumberTile& tile);
void number_tiles_avx2(NumberKind kind, const NumberTile& tile);
void number_tiles_avx512(NumberKind kind, const NumberTile& tile);

}  // namespace touchstone::optimized
