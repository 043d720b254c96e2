// Max and average pooling of feature maps in channel blocks. Taps outside of the image are never
// read, so a map needs no halo.
#pragma once

#include "optimized/kernels/blocked_image.h"

namespace touchstone::optimized {

// Window along one dimension of the image. Output o reads o * step + t * spread - before for t
// below `size`; `spread` is the dilation.
struct PoolWindow {
  Index size = 1, stride = 1, dilation = 1, pad_begin = 0;
  Index image = 1;  // extent of the input
  // Taps that the divisor of a mean counts: positions in [counted_from, counted_to). Either the
  // image, or the image with its padding.
  Index counted_from = 0, counted_to = 1;
};

enum class PoolKind { largest, mean };

class Pool {
 public:
  Pool(Isa isa, PoolKind kind, const PoolWindow& rows, const PoolWindow& columns)
      : isa_(isa), kind_(kind), rows_(rows), columns_(columns) {}
  // Computes rows [first_row, first_row + rows) of blocks [0, blocks), each with `columns` columns.
  void run(const BlockedImage& input, const BlockedImage& output, Index columns, Index blocks,
           Index first_row, Index rows) const;

 private:
  Isa isa_;
  PoolKind kind_;
  PoolWindow rows_, columns_;
};

// Averages the rows x columns elements of each channel. `output` receives one number per channel,
// contiguous, in whole blocks.
void mean_of_all(Isa isa, const BlockedImage& input, Index rows, Index columns, Index blocks,
                 float* output);

}  // namespace touchstone::optimized
