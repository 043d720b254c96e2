// Layout of feature maps between fast kernels: blocks of channels. The channels of a block are the
// lanes of a vector, innermost, so that kernels vectorize over channels whatever the image's width.
#pragma once

#include <array>

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

// Number of channels per block.
inline Index lanes_of(Isa isa) { return isa == Isa::avx512 ? 16 : 8; }

// Feature map of one image. Strides are in elements, a lane's is 1; `data` is the image's first
// element, possibly inside a halo of rows and columns.
struct BlockedImage {
  float* data;
  Index column, row, block;
};

// Stand-in for an absent residual: -0 everywhere, which changes no number when added, not even -0.
inline BlockedImage nothing_to_add() {
  alignas(64) static constexpr std::array<float, 16> block = [] {
    std::array<float, 16> out{};
    out.fill(-0.0F);
    return out;
  }();
  return {const_cast<float*>(block.data()), 0, 0, 0};
}

}  // namespace touchstone::optimized
