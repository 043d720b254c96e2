// Sums of convolutions in the order of their definition, each product rounded, and how large
// numbers are: ordered.cc, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

// Of a block of output channels. Channel c of the input lies at c / lanes * block + c % lanes.
struct OrderedSums {
  using Stride = std::int64_t;

  const float* input;             // what the first tap of the first point reads
  Stride column, row;             // from a point of the output to the next
  Stride tap_column, tap_row;     // from a tap to the next
  Stride block, lanes, channels;  // of the input
  Stride tap_columns, tap_rows;
  const float* weights;  // [tap][channel][lane of the output]
  const float* bias;
  const float* residual;  // clamp(sum + bias + residual); NaN stays
  Stride residual_column, residual_row;
  float* output;
  Stride output_column, output_row;
  Stride columns, rows;
  float least, most;
};

struct OrderedKernels {
  // The sum runs over taps, for each over channels, from 0 on: the bits are the reference's.
  void (*sums)(const OrderedSums& sums);
  // The greatest magnitude among `columns` channel blocks side by side in each row, as bits without
  // a sign: NaN and infinities are greater than any number. `lanes`: -1 for those that count, or 0.
  std::int32_t (*greatest)(const float* from, std::int64_t row, std::int64_t rows,
                           std::int64_t columns, const std::int32_t* lanes);
};

const OrderedKernels& ordered_sse41();
const OrderedKernels& ordered_avx2();
const OrderedKernels& ordered_avx512();

}  // namespace touchstone
