// Feature maps into blocks of channels and back, and moves within blocks. Lanes behind the last
// channel are zeros. None of them touches a halo but clear_halo.
#pragma once

#include "optimized/kernels/picture.h"

namespace touchstone {

// A feature map as the standard lays it: a channel after the other. A pixel's step is 1.
struct Plain {
  float* data;
  Index row, channel;
};

// Rows and columns of an image, or of a part of it; both sides' pointers are the part's first.
struct Area {
  Index channels, rows, columns;
};

void to_blocks(Isa isa, const Plain& from, const Picture& to, const Area& area);
void from_blocks(Isa isa, const Picture& from, const Plain& to, const Area& area);

// Both sides in blocks, `area.channels` counted in whole blocks: into a map with a halo, or into
// some of the blocks of another.
void copy_blocks(Isa isa, const Picture& from, const Picture& to, const Area& area);

// Channels [0, area.channels) of `from` to [first, first + area.channels) of `to`, where they may
// begin inside of a block; the other lanes stay.
void copy_channels(Isa isa, const Picture& from, const Picture& to, Index first, const Area& area);

// Every element of `from` (area) becomes rows x columns elements of `to`.
void repeat_blocks(Isa isa, const Picture& from, const Picture& to, const Area& area, Index rows,
                   Index columns);

// `count` lanes of each of `columns` pixels, from one step between pixels to another.
void copy_lanes(Isa isa, const float* from, Index from_step, float* to, Index to_step, Index count,
                Index columns);

struct Halo {
  Index above = 0, below = 0, before = 0, behind = 0;
};
void clear_halo(Isa isa, const Picture& map, const Area& area, const Halo& halo);

}  // namespace touchstone
