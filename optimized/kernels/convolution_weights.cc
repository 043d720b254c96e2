// Packs the weights of direct convolutions in the order in which their kernels read them.
#include <algorithm>
#include <vector>

#include "core/error.h"
#include "optimized/kernels/convolution.h"
#include "optimized/kernels/strided_copy.h"
#include "optimized/kernels/vector_copies.h"

namespace touchstone::optimized {
namespace {

// Returns weights of a volume as [out][plane][channel in whole blocks][row][column].
std::vector<float> by_planes(Isa isa, const ConvolutionShape& shape, const float* weights) {
  const Index taps = shape.kernel_rows * shape.kernel_columns, planes = shape.planes;
  const Index channels = shape.plane_channels, in_blocks = shape.channels_in / planes;
  std::vector<float> made(
      static_cast<std::size_t>(shape.channels_out * shape.channels_in * taps));  // zeros
  const StridedCopy move{{shape.channels_out, planes, channels, taps, 1},
                         {channels * planes * taps, taps, planes * taps, 1, 0},
                         {shape.channels_in * taps, in_blocks * taps, taps, 1, 0}};
  run_strided_copy(isa, move, sizeof(float), weights, made.data());
  return made;
}

}  // namespace

void Convolution::pack(const float* weights, float* packed) const {
  std::vector<float> ordered;
  if (shape_.plane_channels > 0) {
    ordered = by_planes(isa_, shape_, weights);
    weights = ordered.data();
  }
  if (variant_) return variant_->pack(weights, packed);
  const Index taps = shape_.kernel_rows * shape_.kernel_columns;
  const Index channels = shape_.depthwise ? 1 : shape_.channels_in;
  float* out = packed;
  // Packs rows of `width` output channels from `first` on. `by_taps`: input channels are innermost
  // within each tap; else taps are innermost within each input channel.
  const auto put = [&](Index first, Index width, Index channel, Index count, bool by_taps) {
    const Index size = count * taps * width;
    const Index there = std::clamp<Index>(shape_.channels_out - first, 0, width);
    if (there < width) std::fill(out, out + size, 0.0F);
    const StridedCopy move{
        {there, count, taps, 1, 1},
        {channels * taps, taps, 1, 0, 0},
        {1, by_taps ? width : taps * width, by_taps ? count * width : width, 0, 0}};
    run_strided_copy(isa_, move, sizeof(float), weights + (first * channels + channel) * taps, out);
    out += size;
  };
  for (const Group& group : groups_) {
    out = packed + group.offset;
    const Index first = group.first_block * lanes_, width = group.blocks * lanes_;
    if (shape_.depthwise) {
      for (Index block = 0; block < group.blocks; ++block)
        put(first + block * lanes_, lanes_, 0, 1, true);
    } else if (taps == 1 || shape_.plain_input) {
      put(first, width, 0, channels, false);
    } else {
      for (Index block = 0; block <= full_blocks_; ++block)
        put(first, width, block * lanes_, block < full_blocks_ ? lanes_ : rest_, true);
    }
  }
}

Convolution::Rows Convolution::rows_of(Index part) const {
  const Group& group = groups_[static_cast<std::size_t>(part)];
  return {group.offset, group.first_block * lanes_, group.blocks * lanes_};
}

void Convolution::scale(const float* packed, const BlockedImage& factors, Index part,
                        float* scaled) const {
  if (variant_ || shape_.depthwise || shape_.plain_input ||
      shape_.kernel_rows * shape_.kernel_columns > 1)
    BUG("weights that no factor fits");
  const Group& group = groups_[static_cast<std::size_t>(part)];
  const Index width = group.blocks * lanes_;
  for (Index block = 0; block * lanes_ < shape_.channels_in; ++block) {
    const Index from = group.offset + block * lanes_ * width;
    vector_copies(isa_).scale_rows(packed + from, factors.data + block * factors.block,
                                   scaled + from,
                                   std::min(lanes_, shape_.channels_in - block * lanes_), width);
  }
}

}  // namespace touchstone::optimized
