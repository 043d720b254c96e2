// Converts layouts of feature maps by transposing blocks: one row per lane on one side, one row per
// pixel on the other. Rows of pixels that are contiguous on both sides are merged into one long
// row.
#include "optimized/kernels/layout.h"

#include <algorithm>

#include "optimized/kernels/strided_copy.h"
#include "optimized/kernels/vector_copies.h"

namespace touchstone::optimized {

namespace {

// Merges the area's rows into one if they are contiguous.
Area flat(const Area& area, bool follow) {
  return follow ? Area{area.channels, 1, area.rows * area.columns} : area;
}

// Calls `each` with a block's index, the number of its lanes that are channels, and a row.
template <class F>
void each_row(const Area& area, Index lanes, F each) {
  for (Index block = 0; block * lanes < area.channels; ++block) {
    const Index used = std::min(lanes, area.channels - block * lanes);
    for (Index row = 0; row < area.rows; ++row) each(block, used, row);
  }
}

const std::uint32_t* bits(const float* data) {
  return reinterpret_cast<const std::uint32_t*>(data);
}
std::uint32_t* bits(float* data) { return reinterpret_cast<std::uint32_t*>(data); }

template <class F>
void each_block_row(const Area& area, F each) {
  for (Index block = 0; block < area.channels; ++block) {
    for (Index row = 0; row < area.rows; ++row) each(block, row);
  }
}

}  // namespace

void to_blocks(Isa isa, const PlainImage& from, const BlockedImage& to, const Area& given) {
  const Index lanes = lanes_of(isa);
  const VectorCopies& moves = vector_copies(isa);
  const Area area = flat(given, from.row == given.columns && to.row == given.columns * to.column);
  each_row(area, lanes, [&](Index block, Index used, Index row) {
    const float* source = from.data + block * lanes * from.channel + row * from.row;
    float* target = to.data + block * to.block + row * to.row;
    moves.transpose32(bits(source), from.channel, bits(target), to.column, used, area.columns);
    if (used == lanes) return;
    for (Index x = 0; x < area.columns; ++x)
      std::fill_n(target + x * to.column + used, lanes - used, 0.0F);
  });
}

void from_blocks(Isa isa, const BlockedImage& from, const PlainImage& to, const Area& given) {
  const Index lanes = lanes_of(isa);
  const VectorCopies& moves = vector_copies(isa);
  const Area area = flat(given, to.row == given.columns && from.row == given.columns * from.column);
  each_row(area, lanes, [&](Index block, Index used, Index row) {
    const float* source = from.data + block * from.block + row * from.row;
    float* target = to.data + block * lanes * to.channel + row * to.row;
    moves.transpose32(bits(source), from.column, bits(target), to.channel, area.columns, used);
  });
}

void copy_blocks(Isa isa, const BlockedImage& from, const BlockedImage& to, const Area& area) {
  const Index lanes = lanes_of(isa);
  const VectorCopies& moves = vector_copies(isa);
  constexpr auto size = static_cast<Index>(sizeof(float));
  const auto copy = [&](const float* source, Index source_stride, float* target,
                        Index target_stride, Index rows, Index length) {
    moves.copy_rows(reinterpret_cast<const char*>(source), source_stride * size,
                    reinterpret_cast<char*>(target), target_stride * size, rows, length * size);
  };
  if (from.column == lanes && to.column == lanes) {
    const Index length = area.columns * lanes;
    for (Index block = 0; block < area.channels; ++block) {
      copy(from.data + block * from.block, from.row, to.data + block * to.block, to.row, area.rows,
           length);
    }
    return;
  }
  each_block_row(area, [&](Index block, Index row) {
    copy(from.data + block * from.block + row * from.row, from.column,
         to.data + block * to.block + row * to.row, to.column, area.columns, lanes);
  });
}

void copy_channels(Isa isa, const BlockedImage& from, const BlockedImage& to, Index first,
                   const Area& area) {
  const Index lanes = lanes_of(isa);
  for (Index done = 0; done < area.channels;) {
    const Index source = done % lanes, target = (first + done) % lanes;
    const Index count = std::min({lanes - source, lanes - target, area.channels - done});
    const float* from_block = from.data + done / lanes * from.block + source;
    float* to_block = to.data + (first + done) / lanes * to.block + target;
    if (count == lanes) {
      const Index blocks = (area.channels - done) / lanes;
      copy_blocks(isa, {const_cast<float*>(from_block), from.column, from.row, from.block},
                  {to_block, to.column, to.row, to.block}, {blocks, area.rows, area.columns});
      done += blocks * lanes;
      continue;
    }
    for (Index row = 0; row < area.rows; ++row) {
      for (Index x = 0; x < area.columns; ++x)
        std::copy_n(from_block + row * from.row + x * from.column, count,
                    to_block + row * to.row + x * to.column);
    }
    done += count;
  }
}

void copy_lanes(Isa isa, const float* from, Index source_stride, float* to, Index target_stride,
                Index count, Index columns) {
  constexpr auto size = static_cast<Index>(sizeof(float));
  vector_copies(isa).copy_rows(reinterpret_cast<const char*>(from), source_stride * size,
                               reinterpret_cast<char*>(to), target_stride * size, columns,
                               count * size);
}

void repeat_blocks(Isa isa, const BlockedImage& from, const BlockedImage& to, const Area& area,
                   Index rows, Index columns) {
  const VectorCopies& moves = vector_copies(isa);
  each_block_row(area, [&](Index block, Index row) {
    for (Index k = 0; k < rows; ++k) {
      moves.repeat(from.data + block * from.block + row * from.row, from.column,
                   to.data + block * to.block + (row * rows + k) * to.row, to.column, area.columns,
                   columns);
    }
  });
}

void clear_halo(Isa isa, const BlockedImage& map, const Area& area, const Halo& halo) {
  const Index lanes = lanes_of(isa);
  for (Index block = 0; block * lanes < area.channels; ++block) {
    float* inside = map.data + block * map.block;
    const auto clear = [&](Index row, Index first, Index last) {
      for (Index x = first; x < last; ++x)
        std::fill_n(inside + row * map.row + x * map.column, lanes, 0.0F);
    };
    for (Index row = -halo.top; row < area.rows + halo.bottom; ++row) {
      const bool edge = row < 0 || row >= area.rows;
      clear(row, -halo.left, edge ? area.columns + halo.right : 0);
      if (!edge) clear(row, area.columns, area.columns + halo.right);
    }
  }
}

}  // namespace touchstone::optimized
