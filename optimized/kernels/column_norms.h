// Softmax and normalization of columns side by side. column_norms.cc is compiled once per
// instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Columns that are normalized: number k of a column is x[k * stride], and the next column is beside
// it. y
// may be x.
struct NormalizedColumns {
  const float* x;
  float* y;
  std::int64_t count, stride, columns;  // `count` numbers a column, at least one
};

struct ColumnNormKernels {
  void (*softmax)(const NormalizedColumns& all);
  void (*log_softmax)(const NormalizedColumns& all);
  // (x - mean) / (sqrt(variance) + least)
  void (*standard)(const NormalizedColumns& all, float least);
  // x over the sum of magnitudes, or the root of the sum of squares; 0 where that is 0
  void (*by_magnitudes)(const NormalizedColumns& all);
  void (*by_squares)(const NormalizedColumns& all);
};

extern const ColumnNormKernels column_norms_sse41, column_norms_avx2, column_norms_avx512;

enum class Isa;
const ColumnNormKernels& column_norms_of(Isa isa);

}  // namespace touchstone::optimized
