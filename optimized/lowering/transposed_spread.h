// Adds rows of products to the output points of a transposed convolution that they reach. Points a
// stride apart are side by side meanwhile, so that each row of products is added in order.
#pragma once

#include <vector>

#include "optimized/lowering/sliding.h"

namespace touchstone::optimized {

class TransposedSpread {
 public:
  // `most` floats of scratch for a channel: a window that needs more adds with the stride.
  TransposedSpread(const Sliding& window, Index most);
  // Floats of scratch that a channel needs; 0: adds to the output itself.
  Index channel_floats() const { return step_ == 1 ? 0 : lines_ * step_ * pitch_; }
  // Starts a channel: `points` are the output's, `split` its scratch.
  void fill(float bias, float* points, float* split) const;
  // Adds `count` products of term `term`, of image points from `first` on.
  void add(Index term, const float* products, Index first, Index count, float* points,
           float* split) const;
  // Writes a channel that was split.
  void join(const float* split, float* points) const;

 private:
  Index line_of(Index line, Index outer) const;

  Sliding window_;
  Index step_ = 1;               // of the split: the innermost stride, or 1
  Index lines_ = 0, pitch_ = 0;  // lines of the output, and points of a line and remainder
  Index image_lines_ = 0;
  std::vector<Index> places_;  // output line of each outer term and image line; empty: too many
};

}  // namespace touchstone::optimized
