// Table of vectorized resampling along one axis, and of means over the cells of rectangles.
// resample.cc is compiled once per instruction set. Products and sums are not contracted, so that
// every set gives the same bits.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// One axis of a contiguous array of [outer, in, inner] elements is resampled to `extent` elements,
// each a weighted sum of `taps` elements.
template <class Q>
struct AxisSum {
  const Q* from;
  Q* to;
  const std::int32_t* index;  // index[t * extent + x]: an element along the axis
  const Q* share;             // its weight
  std::int64_t taps, in, extent, inner;
};

// Means over cells of one rectangle: rows are summed by weight first, then columns.
struct CellSums {
  struct Tap {
    std::int32_t at;
    float share;
  };
  // Taps of cell k along an axis: from first[k] up to first[k + 1].
  const Tap *row_taps, *column_taps;
  const std::int32_t *first_row_tap, *first_column_tap;
  std::int64_t rows, columns;   // cells along each axis
  std::int64_t low, high;       // columns of the image that any cell reads
  std::int64_t width, channel;  // strides of the image, in elements
  float divisor;
};

struct Resampling {
  // Rows count over `outer` and `extent` if there are inner elements, else over `outer`; columns
  // over `inner`, else over `extent`.
  void (*sum32)(const AxisSum<float>& axis, std::int64_t first_row, std::int64_t rows,
                std::int64_t first_column, std::int64_t columns);
  void (*sum64)(const AxisSum<double>& axis, std::int64_t first_row, std::int64_t rows,
                std::int64_t first_column, std::int64_t columns);
  // `line`: high - low numbers. Writes rows * columns numbers for each channel.
  void (*cells)(const CellSums& sums, const float* image, std::int64_t channels, float* line,
                float* to);
};

const Resampling& resample_sse41();
const Resampling& resample_avx2();
const Resampling& resample_avx512();
const Resampling& resampling();  // of the chosen instruction set

}  // namespace touchstone::optimized
