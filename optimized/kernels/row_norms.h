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
};

extern const RowNormKernels row_norms_sse41, row_norms_avx2, row_norms_avx512;

enum class Isa;
const RowNormKernels& row_norms_of(Isa isa);

}  // namespace touchstone
