// Convolution sums in the definition's order, and maximum magnitudes. Compiled once per instruction
// set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_ORDERED, without contraction of products and
// sums. Calls no inline function of the standard library, so that the linker cannot pick code for a
// newer processor for the rest of the program.
#include "optimized/kernels/ordered.h"

namespace touchstone::optimized {

namespace {

using Stride = OrderedSums::Stride;

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES == 64 ? 16 : 8;  // of a channel block
constexpr int bytes = lanes * sizeof(float);

using Floats __attribute__((vector_size(bytes))) = float;
using Bits __attribute__((vector_size(bytes))) = std::int32_t;
using FloatsAnywhere __attribute__((vector_size(bytes), aligned(alignof(float)), may_alias)) =
    float;
using BitsAnywhere __attribute__((vector_size(bytes), aligned(alignof(float)), may_alias)) =
    std::int32_t;

#define TOUCHSTONE_LOAD(at) (*reinterpret_cast<const FloatsAnywhere*>(at))

// Computes `points` adjacent points.
template <int points>
inline void some_points(const OrderedSums& s, const float* input, const float* residual,
                        float* output) {
  Floats sum[points];
  for (int p = 0; p < points; ++p) sum[p] = Floats{};
  const float* weights = s.weights;
  for (Stride i = 0; i < s.tap_rows; ++i) {
    for (Stride j = 0; j < s.tap_columns; ++j) {
      const float* block = input + i * s.tap_row + j * s.tap_column;
      for (Stride first = 0; first < s.channels; first += s.lanes, block += s.block) {
        const Stride left = s.channels - first, count = left < s.lanes ? left : s.lanes;
        for (Stride c = 0; c < count; ++c, weights += lanes) {
          const Floats weight = TOUCHSTONE_LOAD(weights);
          for (int p = 0; p < points; ++p) sum[p] += block[p * s.column + c] * weight;
        }
      }
    }
  }
  const Floats bias = TOUCHSTONE_LOAD(s.bias);
  const Floats min = s.min - Floats{}, max = s.max - Floats{};
  for (int p = 0; p < points; ++p) {
    Floats made = sum[p] + bias + TOUCHSTONE_LOAD(residual + p * s.residual_column);
    made = min > made ? min : made;
    made = max < made ? max : made;
    *reinterpret_cast<FloatsAnywhere*>(output + p * s.output_column) = made;
  }
}

void sums(const OrderedSums& s) {
  constexpr int together = 4;
  for (Stride y = 0; y < s.rows; ++y) {
    const float* input = s.input + y * s.row;
    const float* residual = s.residual + y * s.residual_row;
    float* output = s.output + y * s.output_row;
    Stride x = 0;
    for (; x + together <= s.columns; x += together) {
      some_points<together>(s, input, residual, output);
      input += together * s.column;
      residual += together * s.residual_column;
      output += together * s.output_column;
    }
    for (; x < s.columns; ++x) {
      some_points<1>(s, input, residual, output);
      input += s.column, residual += s.residual_column, output += s.output_column;
    }
  }
}

std::int32_t greatest(const float* from, Stride row, Stride rows, Stride columns,
                      const std::int32_t* counts) {
  constexpr int together = 4;  // several running maxima, which hide latency
  const Bits mask = *reinterpret_cast<const BitsAnywhere*>(counts) & 0x7fffffff;
  Bits max[together]{};
  for (Stride y = 0; y < rows; ++y, from += row) {
    const float* at = from;
    Stride x = 0;
    for (; x + together <= columns; x += together, at += together * lanes) {
      for (int k = 0; k < together; ++k) {
        const Bits bits = *reinterpret_cast<const BitsAnywhere*>(at + k * lanes) & mask;
        max[k] = bits > max[k] ? bits : max[k];
      }
    }
    for (; x < columns; ++x, at += lanes) {
      const Bits bits = *reinterpret_cast<const BitsAnywhere*>(at) & mask;
      max[0] = bits > max[0] ? bits : max[0];
    }
  }
  std::int32_t found = 0;
  for (int k = 0; k < together; ++k) {
    for (int lane = 0; lane < lanes; ++lane) found = max[k][lane] > found ? max[k][lane] : found;
  }
  return found;
}

}  // namespace

const OrderedKernels& TOUCHSTONE_ORDERED() {
  static constexpr OrderedKernels kernels{sums, greatest};
  return kernels;
}

}  // namespace touchstone::optimized
