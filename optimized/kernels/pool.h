// Windows over feature maps in blocks of channels: the largest element of each, or the mean. Taps
// outside of the image are not looked at, so a map needs no halo.
#pragma once

#include "optimized/kernels/picture.h"

namespace touchstone {

// A window along one dimension of the image. Output o looks at o * step + t * spread - before for t
// below `size`.
struct PoolWindow {
  Index size = 1, step = 1, spread = 1, before = 0;
  Index image = 1;  // how long the input is
  // What a mean counts: taps at `counted_from` or behind, and before `counted_to`. The image, or
  // the image with its padding.
  Index counted_from = 0, counted_to = 1;
};

enum class PoolKind { largest, mean };

class Pool {
 public:
  Pool(Isa isa, PoolKind kind, const PoolWindow& rows, const PoolWindow& columns)
      : isa_(isa), kind_(kind), rows_(rows), columns_(columns) {}
  // Rows [first_row, first_row + rows) of blocks [0, blocks), each with `columns` columns.
  void run(const Picture& input, const Picture& output, Index columns, Index blocks,
           Index first_row, Index rows) const;

 private:
  Isa isa_;
  PoolKind kind_;
  PoolWindow rows_, columns_;
};

// The mean of rows x columns elements of each channel. `output` has a number a channel, in blocks
// one behind the other.
void mean_of_all(Isa isa, const Picture& input, Index rows, Index columns, Index blocks,
                 float* output);

}  // namespace touchstone
