// Finds the input channel of each lane and step, and cuts rows into tiles.
#include "optimized/kernels/grouped.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"
#include "optimized/registry/components.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

GroupedKernel kernel_of(Isa isa) { return BY_ISA(isa, grouped_tiles); }

// Input blocks that the lanes of an output block read in one step; `count` of them.
struct Sources {
  std::array<Index, 2> blocks{};
  Index count = 0;
  bool fits = true;
};

// `channel`: the input channel of lane k, or negative.
template <class Channel>
Sources sources_of(Index lanes, const Channel& channel) {
  Sources made;
  for (Index lane = 0; lane < lanes; ++lane) {
    const Index from = channel(lane);
    if (from < 0) continue;
    const Index block = from / lanes;
    const auto end = made.blocks.begin() + made.count;
    if (std::find(made.blocks.begin(), end, block) != end) continue;
    if (made.count == 2) {
      made.fits = false;
      break;
    }
    made.blocks[static_cast<std::size_t>(made.count++)] = block;
  }
  if (made.count == 1) made.blocks[1] = made.blocks[0];
  return made;
}

// Cuts a row into tiles of the least time: about one unit a point, but small tiles wait for sums.
std::vector<std::int32_t> widths_of(Isa isa, Index columns) {
  constexpr Index planned = 32;
  constexpr double wait = 6, start = 1;
  const std::int32_t most = isa == Isa::avx512 ? 14 : 8;
  std::vector<std::int32_t> made;
  for (; columns > planned; columns -= most) made.push_back(most);
  std::array<double, planned + 1> best{};
  std::array<std::int32_t, planned + 1> first{};
  for (Index width = 1; width <= columns; ++width) {
    const auto at = static_cast<std::size_t>(width);
    best[at] = std::numeric_limits<double>::infinity();
    for (const std::int32_t tile : grouped_widths) {
      if (tile > most || tile > width) continue;
      const double cost = std::max(static_cast<double>(tile), wait) + start +
                          best[at - static_cast<std::size_t>(tile)];
      if (cost < best[at]) {
        best[at] = cost;
        first[at] = tile;
      }
    }
  }
  while (columns > 0) {
    made.push_back(first[static_cast<std::size_t>(columns)]);
    columns -= made.back();
  }
  return made;
}

}  // namespace

bool Grouped::fits(Isa isa, Index groups, Index in, Index out) {
  if (!is_built(Component::grouped) || groups < 2 || in < 1 || out < 1) return false;
  const Index lanes = lanes_of(isa), channels = groups * out;
  for (Index first = 0; first < channels; first += lanes) {
    for (Index step = 0; step < in; ++step) {
      const auto channel = [&](Index lane) {
        return first + lane < channels ? (first + lane) / out * in + step : -1;
      };
      if (!sources_of(lanes, channel).fits) return false;
    }
  }
  return true;
}

Grouped::Grouped(Isa isa, const ConvolutionShape& shape)
    : isa_(isa),
      shape_(shape),
      lanes_(lanes_of(isa)),
      blocks_(ceil_div(shape.channels_out, lanes_)),
      blocks_of_a_part_(std::clamp<Index>(blocks_ / 8, 1, 8)),
      widths_(widths_of(isa, shape.columns_out)) {
  const Index out = shape.channels_out / shape.groups;
  for (Index block = 0; block < blocks_; ++block) {
    const auto group = [&](Index lane) {
      const Index at = block * lanes_ + lane;
      return at < shape.channels_out ? at / out : -1;
    };
    const Index last = std::min(shape.channels_out - block * lanes_, lanes_) - 1;
    // As in GroupedTiles.
    int most = group(0) == group(last) ? 0 : group(0) + 1 == group(last) ? 3 : 1;
    for (Index step = 0; step < shape.channels_in; ++step) {
      const auto channel = [&](Index lane) {
        return group(lane) < 0 ? -1 : group(lane) * shape.channels_in + step;
      };
      const Sources sources = sources_of(lanes_, channel);
      if (!sources.fits) BUG("lanes of a step that are in more than two blocks");
      if (sources.count == 2) most = std::max(most, 2);
      steps_.insert(steps_.end(), {sources.blocks[0], sources.blocks[1]});
      for (Index lane = 0; lane < lanes_; ++lane) {
        const Index from = channel(lane < last ? lane : last);
        const bool second = from / lanes_ != sources.blocks[0];
        picks_.push_back(static_cast<std::int32_t>(from % lanes_ + (second ? lanes_ : 0)));
      }
    }
    sources_.push_back(most);
  }
}

Index Grouped::parts() const { return ceil_div(blocks_, blocks_of_a_part_); }

std::pair<Index, Index> Grouped::blocks_of(Index part) const {
  const Index first = part * blocks_of_a_part_;
  return {first, std::min(blocks_of_a_part_, blocks_ - first)};
}

Index Grouped::block_weights() const {
  return shape_.kernel_rows * shape_.channels_in * shape_.kernel_columns * lanes_;
}

Index Grouped::packed_size() const { return blocks_ * block_weights(); }

void Grouped::pack(const float* weights, float* packed) const {
  const Index rows = shape_.kernel_rows, columns = shape_.kernel_columns;
  const Index steps = shape_.channels_in;
  for (Index o = 0; o < blocks_ * lanes_; ++o) {
    float* const to = packed + o / lanes_ * block_weights() + o % lanes_;
    for (Index k = 0; k < steps * rows * columns; ++k) {
      const Index step = k / (rows * columns), row = k / columns % rows, column = k % columns;
      to[((row * steps + step) * columns + column) * lanes_] =
          o < shape_.channels_out ? weights[o * steps * rows * columns + k] : 0.0F;
    }
  }
}

void Grouped::run(const ConvolutionRows& rows) const {
  const BlockedImage &in = rows.input, &out = rows.output;
  const BlockedImage residual = rows.residual ? *rows.residual : nothing_to_add();
  const auto [first_block, blocks] = blocks_of(rows.part);
  const Index steps = shape_.channels_in;
  GroupedTiles tiles{};
  tiles.input = in.data + rows.first * shape_.row_stride * in.row;
  tiles.column = shape_.column_stride * in.column;
  tiles.row = shape_.row_stride * in.row;
  tiles.tap_column = shape_.column_dilation * in.column;
  tiles.tap_row = shape_.row_dilation * in.row;
  tiles.block = in.block;
  tiles.tap_columns = shape_.kernel_columns;
  tiles.tap_rows = shape_.kernel_rows;
  tiles.steps = steps;
  tiles.residual_column = residual.column;
  tiles.residual_row = residual.row;
  tiles.output_column = out.column;
  tiles.output_row = out.row;
  tiles.rows = rows.count;
  tiles.tiles = widths_.data();
  tiles.tile_count = static_cast<Index>(widths_.size());
  tiles.min = rows.min;
  tiles.max = rows.max;
  for (Index block = first_block; block < first_block + blocks; ++block) {
    tiles.sources = sources_[static_cast<std::size_t>(block)];
    tiles.blocks = steps_.data() + block * steps * 2;
    tiles.picks = picks_.data() + block * steps * lanes_;
    tiles.weights = rows.weights.packed + block * block_weights();
    tiles.bias = rows.bias + block * lanes_;
    tiles.residual = residual.data + rows.first * residual.row + block * residual.block;
    tiles.output = out.data + rows.first * out.row + block * out.block;
    kernel_of(isa_)(tiles);
  }
}

}  // namespace touchstone::optimized
