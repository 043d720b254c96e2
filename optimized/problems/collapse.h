// Merges dimensions that all operands traverse with compatible strides, so that kernels of fixed
// rank can iterate over any shape.
#pragma once

#include <vector>

#include "core/shape.h"

namespace touchstone::optimized {

struct Collapsed {
  Shape extents;                     // outermost first; no extent is 1
  std::vector<IndexVector> strides;  // one per operand
};

// Returns the strides of a dense tensor that is broadcast to `rank` dimensions, of which its own
// are those from `start` on: 0 along extents of 1.
IndexVector broadcast_strides(const Shape& from, Index rank, Index start);

// Merges the dimensions `extents`, with each operand's strides, as far as the strides allow. One
// dimension of extent 0 is left if an extent is 0.
Collapsed collapse(const Shape& extents, const std::vector<IndexVector>& strides);

// Calls visit(offsets, one per operand) for every point of the outermost `dims` dimensions, in
// row-major order.
template <class Visit>
void each_outer(const Collapsed& walk, Index dims, Visit visit) {
  IndexVector at(dims, 0);
  std::vector<Index> offsets(walk.strides.size(), 0);
  for (;;) {
    visit(offsets);
    Index k = dims - 1;
    for (; k >= 0; --k) {
      for (std::size_t o = 0; o < offsets.size(); ++o) offsets[o] += walk.strides[o][k];
      if (++at[k] < walk.extents[k]) break;
      for (std::size_t o = 0; o < offsets.size(); ++o) offsets[o] -= walk.strides[o][k] * at[k];
      at[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace touchstone::optimized
