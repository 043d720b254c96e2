// Softmax and normalization of rows of contiguous numbers. row_norms.cc is compiled once per
// instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

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

// A row of `segments` pieces of `count` numbers each, `stride` numbers apart. y is as x.
struct SegmentedRow {
  const float* x;
  float* y;
  std::int64_t count, segments, stride;
};

// Rows that are normalized by statistics that are given, one for each channel.
struct GivenStatistics {
  const float* x;
  float* y;
  std::int64_t rows, count;        // `count` numbers a row, if a row is of one channel
  std::int64_t channels, channel;  // `channel` of the first row
  const float *mean, *deviation, *scale, *bias;
  const float* factor;  // scale / deviation
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
  // (x - mean) / deviation * scale + bias, for rows of one channel each
  void (*by_channels)(const GivenStatistics& all);
  // The same for rows of all channels side by side.
  void (*by_each)(const GivenStatistics& all);
  // (x - mean) / (sqrt(variance) + least)
  void (*standard)(const float* x, float* y, std::int64_t rows, std::int64_t count, float least);
  void (*standard_segments)(const SegmentedRow& row, float least);
  // x over the sum of magnitudes, or the root of the sum of squares; 0 where that is 0
  void (*by_magnitudes)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  void (*by_squares)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  // The logarithm of the sum of the exponentials of each row.
  void (*log_sum_exp)(const float* x, float* y, std::int64_t rows, std::int64_t count);
};

extern const RowNormKernels row_norms_sse41, row_norms_avx2, row_norms_avx512;

enum class Isa;
const RowNormKernels& row_norms_of(Isa isa);

}  // namespace touchstone::optimized
