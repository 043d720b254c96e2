// Feature maps between fast kernels lie in blocks of channels: the channels of a block are the lanes
// of a vector, innermost, so that a kernel's vectors run over channels whatever the image's width.
#pragma once

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone {

// How many channels a block has.
inline Index lanes_of(Isa isa) { return isa == Isa::avx512 ? 16 : 8; }

// One image's feature map. Steps are in elements, a lane's is 1; `data` is the first element of the
// image, around which there may be a halo of rows and columns.
struct Picture {
  float* data;
  Index column, row, block;
};

}  // namespace touchstone
