// Softmax and normalization of rows of contiguous numbers. row_norms.cc is compiled once per
// instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

// Rows that are normalized, then scaled; y may be x.
struct NormalizedRows {
  const float* x;
  float* y;
  std::int64_t rows, count;   // `count` numbers a row, at least one
  const float *scale, *bias;  // one number for each of a row; `bias` null: zeros
  float epsilon;
  float *mean, *inverse;  // one number a row, or null
};

// A row of channels one after the other, each of `segment` numbers with one scale and bias.
struct NormalizedGroup {
  const float* x;
  float* y;
  std::int64_t count, segment;  // `segment` divides `count`; at least one
  const float *scale, *bias;    // one number for each channel of the row
  float epsilon;
};

// Columns that are normalized: number k of a column is x[k * stride], and the next column is beside
// it. y is as x.
struct NormalizedColumns {
  const float* x;
  float* y;
  std::int64_t count, stride, columns;  // `count` numbers a column, at least one
};

// Numbers that are normalized by statistics that are given; each has its own, or all have one.
struct GivenStatistics {
  const float* x;
  float* y;
  std::int64_t count;
  const float *mean, *deviation, *scale, *bias;
};

struct RowNormKernels {
  // `count` numbers a row, at least one; y may be x.
  void (*softmax)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  void (*log_softmax)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  // (x - mean) * (1 / sqrt(variance + epsilon)) * scale + bias
  void (*layer)(const NormalizedRows& all);
  // x / sqrt(mean of squares + epsilon) * scale; without bias and statistics
  void (*root_mean_square)(const NormalizedRows& all);
  // (x - mean) / sqrt(variance + epsilon) * scale + bias
  void (*group)(const NormalizedGroup& all);
  void (*softmax_columns)(const NormalizedColumns& all);
  void (*log_softmax_columns)(const NormalizedColumns& all);
  // (x - mean) / deviation * scale + bias
  void (*by_one)(const GivenStatistics& all);
  void (*by_each)(const GivenStatistics& all);
  // (x - mean) / (sqrt(variance) + least)
  void (*standard)(const float* x, float* y, std::int64_t rows, std::int64_t count, float least);
  // x over the sum of magnitudes, or the root of the sum of squares; 0 where that is 0
  void (*by_magnitudes)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  void (*by_squares)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  // The logarithm of the sum of the exponentials of each row.
  void (*log_sum_exp)(const float* x, float* y, std::int64_t rows, std::int64_t count);
};

extern const RowNormKernels row_norms_sse41, row_norms_avx2, row_norms_avx512;

enum class Isa;
const RowNormKernels& row_norms_of(Isa isa);

}  // namespace touchstone
