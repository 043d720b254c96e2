// Layout of a batch of feature maps in channel blocks, with a halo of zeros around each image.
#pragma once

#include <algorithm>

#include "optimized/kernels/layout.h"
#include "reference/lists.h"

namespace touchstone::optimized {

inline bool is_empty(const Halo& h) { return h.top + h.bottom + h.left + h.right == 0; }
inline void cover(Halo& halo, const Halo& other) {
  halo.top = std::max(halo.top, other.top);
  halo.bottom = std::max(halo.bottom, other.bottom);
  halo.left = std::max(halo.left, other.left);
  halo.right = std::max(halo.right, other.right);
}

struct Blocks {
  Index images = 1, channels = 1, rows = 1, columns = 1, lanes = 1;
  Halo halo;
  // Set if this is a part of the blocks of a batch with more channels.
  Index first_block = 0, all_blocks = 0;

  Index blocks() const { return ceil_div(channels, lanes); }
  Index row() const { return (halo.left + columns + halo.right) * lanes; }
  Index block() const { return (halo.top + rows + halo.bottom) * row(); }
  Index image() const { return (all_blocks > 0 ? all_blocks : blocks()) * block(); }
  Index floats() const { return images * image(); }
  Index origin() const { return first_block * block() + halo.top * row() + halo.left * lanes; }
  BlockedImage image_view(float* memory, Index image_number) const {
    return {memory + image_number * image() + origin(), lanes, row(), block()};
  }

  Area area() const { return {channels, rows, columns}; }

  // Returns the layout of `channels_of_it` channels, from block `first` on, as a part of this one.
  Blocks part(Index channels_of_it, Index first) const {
    Blocks made = *this;
    made.channels = channels_of_it;
    made.first_block = first_block + first;
    made.all_blocks = all_blocks > 0 ? all_blocks : blocks();
    return made;
  }

  // Layout for a value of shape [N, C], [N, C, W] or [N, C, H, W].
  static Blocks of(const Shape& shape, Index lanes, const Halo& halo) {
    Blocks made{shape[0], shape[1], 1, 1, lanes, halo};
    if (shape.size() > 2) made.columns = shape.back();
    if (shape.size() > 3) made.rows = shape[2];
    return made;
  }
};

}  // namespace touchstone::optimized
