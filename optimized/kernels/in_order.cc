// Sums one block of output channels at a time; its weights are first transposed so that the lanes
// are contiguous.
#include "optimized/kernels/in_order.h"

#include <algorithm>

#include "core/error.h"
#include "optimized/kernels/strided_copy.h"

namespace touchstone::optimized {

const OrderedKernels& ordered_kernels(Isa isa) { return BY_ISA(isa, ordered)(); }

InOrder::InOrder(Isa isa, const ConvolutionShape& shape) : isa_(isa), shape_(shape) {
  if (shape.depthwise) BUG("depthwise sums in order");
}

Index InOrder::scratch_size() const {
  return shape_.kernel_rows * shape_.kernel_columns * shape_.channels_in * lanes_of(isa_);
}

// Writes the weights of the output channels from `first` on as [tap][channel][lane].
void InOrder::turn(const float* weights, Index first, float* turned) const {
  const Index taps = shape_.kernel_rows * shape_.kernel_columns, planes = shape_.planes;
  const Index lanes = lanes_of(isa_), there = std::min(shape_.channels_out - first, lanes);
  const Index in_blocks = shape_.channels_in / planes;  // channels of a plane, in whole blocks
  const Index channels = shape_.plane_channels > 0 ? shape_.plane_channels : in_blocks;
  if (there < lanes || channels < in_blocks) std::fill_n(turned, scratch_size(), 0.0F);
  const StridedCopy move{{there, planes, channels, taps, 1},
                         {channels * planes * taps, taps, planes * taps, 1, 0},
                         {1, in_blocks * lanes, lanes, shape_.channels_in * lanes, 0}};
  run_strided_copy(isa_, move, sizeof(float), weights + first * channels * planes * taps, turned);
}

void InOrder::run(const ConvolutionRows& rows, Index first_block, Index blocks) const {
  if (rows.weights.plain == nullptr) BUG("sums in order without their weights");
  const ConvolutionShape& s = shape_;
  const Index lanes = lanes_of(isa_);
  const BlockedImage residual = rows.residual ? *rows.residual : nothing_to_add();
  OrderedSums sums{};
  sums.input = rows.input.data + rows.first * s.row_stride * rows.input.row;
  sums.column = s.column_stride * rows.input.column;
  sums.row = s.row_stride * rows.input.row;
  sums.tap_column = s.column_dilation * rows.input.column;
  sums.tap_row = s.row_dilation * rows.input.row;
  sums.block = rows.input.block;
  sums.lanes = s.plain_input ? 1 : lanes;
  sums.channels = s.channels_in;
  sums.tap_columns = s.kernel_columns;
  sums.tap_rows = s.kernel_rows;
  sums.weights = rows.scratch;
  sums.residual_column = residual.column;
  sums.residual_row = residual.row;
  sums.output_column = rows.output.column;
  sums.output_row = rows.output.row;
  sums.columns = s.columns_out;
  sums.rows = rows.count;
  sums.min = rows.min;
  sums.max = rows.max;
  for (Index block = first_block; block < first_block + blocks; ++block) {
    turn(rows.weights.plain, block * lanes, rows.scratch);
    sums.bias = rows.bias + block * lanes;
    sums.residual = residual.data + rows.first * residual.row + block * residual.block;
    sums.output = rows.output.data + rows.first * rows.output.row + block * rows.output.block;
    ordered_kernels(isa_).sums(sums);
  }
}

}  // namespace touchstone::optimized
