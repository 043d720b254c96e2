// Kernels that sum convolutions in the order of their definition, rounding each product, and that
// find maximum magnitudes. ordered.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Arguments for one block of output channels. Channel c of the input is stored at c / lanes * block
// + c % lanes.
struct OrderedSums {
  using Stride = std::int64_t;

  const float* input;             // element that the first tap of the first point reads
  Stride column, row;             // strides between output points
  Stride tap_column, tap_row;     // strides between taps
  Stride block, lanes, channels;  // of the input
  Stride tap_columns, tap_rows;
  const float* weights;  // [tap][channel][lane of the output]
  const float* bias;
  const float* residual;  // clamp(sum + bias + residual); NaN stays
  Stride residual_column, residual_row;
  float* output;
  Stride output_column, output_row;
  Stride columns, rows;
  float min, max;
};

struct OrderedKernels {
  // Sums over taps, within each over channels, starting from 0: bit-identical to the reference.
  void (*sums)(const OrderedSums& sums);
  // Returns the maximum magnitude among `columns` adjacent channel blocks in each row, as bits
  // without the sign. NaN and infinities exceed any number. `lanes`: -1 for lanes that count, else
  // 0.
  std::int32_t (*greatest)(const float* from, std::int64_t row, std::int64_t rows,
                           std::int64_t columns, const std::int32_t* lanes);
};

const OrderedKernels& ordered_sse41();
const OrderedKernels& ordered_avx2();
const OrderedKernels& ordered_avx512();

}  // namespace touchstone::optimized
