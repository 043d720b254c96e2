// Convolution of any rank, without a copy of each patch. The image of a group is copied with its
// padding, a slab of its outermost dimension at a time. Each filter is a sum of shifted copies.
#pragma once

#include <optional>
#include <vector>

#include "optimized/kernels/taps.h"
#include "optimized/lowering/sliding.h"

namespace touchstone::optimized {

class PaddedConvolution {
 public:
  // Returns nullopt if copies of patches cost less than sums between the rows of the output, or if
  // one slab exceeds `scratch` floats.
  static std::optional<PaddedConvolution> of(const Sliding& window, Index channels, Index filters,
                                             Index scratch);

  // Computes a slab of all filters of one group of one image. `bias`: one per filter, or null.
  void run(Index slab, const float* x, const float* w, const float* bias, float* y,
           float* scratch) const;
  Index slabs() const;
  Index scratch() const { return floats(slices_); }  // floats that run() needs

 private:
  PaddedConvolution(const Sliding& window, Index channels, Index filters);
  Index floats(Index slices) const;
  void copy(const float* x, Index first, Index slices, float* to) const;
  void copy_row(const float* from, float* to) const;
  void copy_out(const float* from, Index first, Index slices, float* y) const;
  Index channel_floats(Index slices) const;
  bool pays() const;
  // Returns filters in an order that puts those of one tap, of each group of filters that the
  // kernel takes, next to each other.
  void pack(const float* w, float* packed) const;

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

}  // namespace touchstone::optimized
