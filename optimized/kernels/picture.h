// Feature maps between fast kernels lie in blocks of channels: the channels of a block are the
// lanes of a vector, innermost, so that a kernel's vectors run over channels whatever the image's
// width.
#pragma once

#include <array>

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone {

// How many channels a block has.
inline Index lanes_of(Isa isa) { return isa == Isa::avx512 ? 16 : 8; }

// One image's feature map. Strides are in elements, a lane's is 1; `data` is the first element of
// the image, around which there may be a halo of rows and columns.
struct Picture {
  float* data;
  Index column, row, block;
};

// The residual where there is none: adding it changes no number, not even -0.
inline Picture nothing_to_add() {
  alignas(64) static constexpr std::array<float, 16> block = [] {
    std::array<float, 16> out{};
    out.fill(-0.0F);
    return out;
  }();
  return {const_cast<float*>(block.data()), 0, 0, 0};
}

}  // namespace touchstone
