// Convolution with few output channels: runs an ordinary convolution with column stride `together`,
// then separates the points that share a vector.
#include "optimized/kernels/narrow.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "optimized/kernels/layout.h"

namespace touchstone::optimized {

namespace {

constexpr Index worth_it = 1 << 20;      // multiply-adds
constexpr Index chunk_floats = 1 << 14;  // of scratch: it stays in L1

ConvolutionShape widened(Isa isa, const ConvolutionShape& shape, Index together, Index rows) {
  ConvolutionShape wide = shape;
  wide.channels_out = lanes_of(isa);
  wide.kernel_columns += together - 1;
  wide.column_stride = together;
  wide.columns_out /= together;
  wide.rows_out = rows;
  return wide;
}

Index rows_of(const ConvolutionShape& shape, Index share) {
  return std::clamp<Index>(chunk_floats / (shape.columns_out * share), 1, shape.rows_out);
}

}  // namespace

bool Narrow::fits(Isa isa, const ConvolutionShape& s, ConvolutionAlgorithm algorithm) {
  const bool can = s.channels_out * together <= lanes_of(isa) && s.kernel_columns > 1 &&
                   s.column_stride == 1 && s.column_dilation == 1 && !s.depthwise && !s.adds &&
                   s.plane_channels == 0 && s.row_bands.empty() && s.column_bands.empty() &&
                   s.columns_out % together == 0;
  if (algorithm == ConvolutionAlgorithm::narrow) return can;
  const Index sums = s.channels_in * s.kernel_rows * s.kernel_columns;
  return can && algorithm == ConvolutionAlgorithm::best &&
         s.rows_out * s.columns_out * sums * s.channels_out >= worth_it;
}

Narrow::Narrow(Isa isa, const ConvolutionShape& shape)
    : isa_(isa),
      shape_(shape),
      share_(lanes_of(isa) / together),
      rows_at_once_(rows_of(shape, share_)),
      product_(isa, widened(isa, shape, together, rows_at_once_), ConvolutionAlgorithm::direct),
      in_order_(isa, shape) {}

void Narrow::pack(const float* weights, float* packed) const {
  const Index columns = shape_.kernel_columns, wide = columns + together - 1;
  const Index rows = shape_.channels_in * shape_.kernel_rows;
  std::vector<float> widened(static_cast<std::size_t>(lanes_of(isa_) * rows * wide));
  for (Index t = 0; t < together; ++t) {
    for (Index k = 0; k < shape_.channels_out * rows; ++k) {
      const Index row = (t * share_ + k / rows) * rows + k % rows;
      std::copy_n(weights + k * columns, columns, widened.data() + row * wide + t);
    }
  }
  product_.pack(widened.data(), packed);
}

// Checks rows for NaN only: 0 times an infinity is NaN, and no clamp hides it.
void Narrow::run(const ConvolutionRows& all) const {
  const auto& [input, weights, bias, residual, output, min, max, part, first_row, rows, scratch,
               prefetch] = all;
  if (residual) BUG("a residual that was not announced");
  std::array<float, 16> biases{};
  for (Index t = 0; t < together; ++t)
    std::copy_n(bias, shape_.channels_out, biases.data() + t * share_);
  BlockedImage in = input;
  in.data += first_row * shape_.row_stride * input.row;
  const Index lanes = lanes_of(isa_), row = shape_.columns_out * share_;
  const BlockedImage made{scratch, lanes, row, rows * row};
  product_.run(in, {weights.packed}, biases.data(), nullptr, made, min, max, 0, 0, rows, nullptr,
               prefetch);
  constexpr std::int32_t infinity = 0x7f800000;
  std::array<std::int32_t, 16> every;
  every.fill(-1);
  for (Index k = 0; k < rows; ++k) {
    const float* const points = scratch + k * row;
    if (ordered_kernels(isa_).greatest(points, 0, 1, row / lanes, every.data()) <= infinity) {
      copy_lanes(isa_, points, share_, output.data + (first_row + k) * output.row, output.column,
                 share_, shape_.columns_out);
    } else {
      ConvolutionRows again = all;
      again.first = first_row + k;
      again.count = 1;
      again.scratch = scratch + made_size();
      in_order_.run(again, 0, 1);
    }
  }
}

}  // namespace touchstone::optimized
