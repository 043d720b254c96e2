// Convolution of any rank for groups of few filters. The image of a group is copied with its
// padding, a slab of its outermost dimension at a time. Each filter is a sum of shifted copies.
#pragma once

#include <optional>
#include <vector>

#include "optimized/kernels/taps.h"
#include "optimized/lowering/sliding.h"

namespace touchstone {

class PaddedConvolution {
 public:
  // Returns nullopt if the filters are too many, or one slab exceeds `scratch` floats.
  static std::optional<PaddedConvolution> of(const Sliding& window, Index channels, Index filters,
                                             Index scratch);

  // Computes all filters of one group of one image. `bias`: one per filter, or null.
  void run(const float* x, const float* w, const float* bias, float* y, float* scratch) const;

 private:
  PaddedConvolution(const Sliding& window, Index channels, Index filters);
  Index floats(Index slices) const;
  void copy(const float* x, Index first, Index slices, float* to) const;
  void copy_row(const float* from, float* to) const;
  void copy_out(const float* from, Index first, Index slices, float* y) const;

  Sliding window_;
  Index channels_, filters_;
  Shape extents_;      // of the padded image, whose rows are divided by the stride's remainders
  IndexVector pitch_;  // of the padded image
  Index phase_;        // floats of a row that are a stride apart
  Index flat_;         // the first of the dimensions that are computed as one
  Index slices_ = 1;   // output slices of a slab
  IndexVector place_;  // offset of each term of a channel
  TapKernel kernel_;
};

}  // namespace touchstone
