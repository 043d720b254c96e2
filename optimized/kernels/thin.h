// Product of few rows, or of a small matrix, that is read in place: B has contiguous rows and is
// not packed. thin.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

struct Thin {
  const float* a;  // A[m][k] is a[m * a_row + k * a_depth]
  std::int64_t a_row, a_depth;
  const float* b;  // B[k][n] is b[k * b_depth + n]
  std::int64_t b_depth;
  float* c;  // C[m][n] is c[m * c_row + n]
  std::int64_t c_row;
  std::int64_t rows, depth;
};

// Computes columns [first, first + count) of all rows, each sum in the order of the depth.
using ThinKernel = void (*)(const Thin& thin, std::int64_t first, std::int64_t count);
void thin_sse41(const Thin& thin, std::int64_t first, std::int64_t count);
void thin_avx2(const Thin& thin, std::int64_t first, std::int64_t count);
void thin_avx512(const Thin& thin, std::int64_t first, std::int64_t count);

}  // namespace touchstone::optimized
