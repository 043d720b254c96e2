// A stack of feature maps in blocks of channels, with a halo of zeros around each image.
#pragma once

#include "optimized/kernels/picture.h"

namespace touchstone {

struct Halo {
  Index top = 0, left = 0, bottom = 0, right = 0;

  void cover(const Halo& other) {
    top = std::max(top, other.top);
    left = std::max(left, other.left);
    bottom = std::max(bottom, other.bottom);
    right = std::max(right, other.right);
  }
  bool empty() const { return top + left + bottom + right == 0; }
};

struct Blocks {
  Index images = 1, channels = 1, rows = 1, columns = 1, lanes = 1;
  Halo halo;

  Index blocks() const { return (channels + lanes - 1) / lanes; }
  Index row() const { return (halo.left + columns + halo.right) * lanes; }
  Index block() const { return (halo.top + rows + halo.bottom) * row(); }
  Index image() const { return blocks() * block(); }
  Index floats() const { return images * image(); }
  Index origin() const { return halo.top * row() + halo.left * lanes; }
  Picture picture(float* memory, Index image_number) const {
    return {memory + image_number * image() + origin(), lanes, row(), block()};
  }

  // Of a value of shape [N, C], [N, C, W] or [N, C, H, W].
  static Blocks of(const Shape& shape, Index lanes, const Halo& halo) {
    Blocks made{shape[0], shape[1], 1, 1, lanes, halo};
    if (shape.size() > 2) made.columns = shape.back();
    if (shape.size() > 3) made.rows = shape[2];
    return made;
  }
};

}  // namespace touchstone
