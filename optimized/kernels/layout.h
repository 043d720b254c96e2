// Converts feature maps into channel blocks and back, and copies within blocks. Unused lanes of the
// last block are set to zero. Only clear_halo writes a halo.
#pragma once

#include "optimized/kernels/blocked_image.h"

namespace touchstone::optimized {

// Feature map in the standard's layout, [channel][row][column]; the column stride is 1.
struct PlainImage {
  float* data;
  Index row, channel;
};

// Extents of an image or of a region; both sides' pointers are at the region's first element.
struct Area {
  Index channels, rows, columns;
};

void to_blocks(Isa isa, const PlainImage& from, const BlockedImage& to, const Area& area);
void from_blocks(Isa isa, const BlockedImage& from, const PlainImage& to, const Area& area);

// Copies between blocked maps; `area.channels` counts whole blocks. For copies into a map with a
// halo, or into a range of blocks.
void copy_blocks(Isa isa, const BlockedImage& from, const BlockedImage& to, const Area& area);

// Copies channels [0, area.channels) of `from` to [first, first + area.channels) of `to`. They may
// begin inside of a block, whose other lanes are preserved.
void copy_channels(Isa isa, const BlockedImage& from, const BlockedImage& to, Index first,
                   const Area& area);

// Writes every element of `from` (extents `area`) to rows x columns elements of `to`.
void repeat_blocks(Isa isa, const BlockedImage& from, const BlockedImage& to, const Area& area,
                   Index rows, Index columns);

// Copies `count` lanes of each of `columns` pixels, with a pixel stride for each side.
void copy_lanes(Isa isa, const float* from, Index source_stride, float* to, Index target_stride,
                Index count, Index columns);

struct Halo {
  Index top = 0, bottom = 0, left = 0, right = 0;
};
void clear_halo(Isa isa, const BlockedImage& map, const Area& area, const Halo& halo);

}  // namespace touchstone::optimized
