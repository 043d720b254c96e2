// Sums and extremes of rows of contiguous numbers. row_folds.cc is compiled once per instruction
// set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Writes one number a row of `count` numbers, at least one.
using RowFold = void (*)(const float* x, float* y, std::int64_t rows, std::int64_t count);

struct RowFoldKernels {
  RowFold sum, sum_of_squares, sum_of_magnitudes;
  RowFold maximum, minimum;  // NaN if the row holds one
};

extern const RowFoldKernels row_folds_sse41, row_folds_avx2, row_folds_avx512;

}  // namespace touchstone::optimized
