// Images of 8-bit integers as convolutions read them: four channels of a pixel are neighbors in
// memory, so that the pixels of a line are columns of a product
// (optimized/kernels/integer_tiles.h).
#pragma once

#include <vector>

#include "optimized/lowering/integer_windows.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

// Holds a padded image. Pixels that are a stride apart are neighbors, and each remainder of the
// stride that a window reads has a plane of its own.
class IntegerImage {
 public:
  // Arranges the image for windows in `groups` groups of channels. Returns false if it would be
  // much larger than what the windows read.
  bool arrange(const Windows& windows, Index groups);
  // Copies an image; highest bits are inverted by `flip`. Padding has the number `zero`.
  void fill(RunState& state, const std::uint8_t* image, std::uint8_t flip, std::uint8_t zero);

  // Offsets in bytes of each group of four rows of the product, from a window's first pixel: points
  // of the window, within them groups of four channels, the last of which may not exist.
  const Index* steps() const { return steps_; }
  // Offset in bytes of each point of the window.
  const Index* points() const { return point_steps_; }
  // Bytes from group to group, if kernels may sum several of them at once, else 0.
  Index step() const { return step_; }
  // Row of the product of a channel of a group and a point.
  Index row(Index channel, Index point) const {
    return (point * stored_fours_ + channel / 4) * 4 + channel % 4;
  }
  Index fours() const { return fours_; }                       // groups of four channels of a group
  Index depth() const { return 4 * stored_fours_ * points_; }  // rows of the product
  // Result lines have `pitch` pixels, of which the first are those of the windows.
  Index pitch() const { return planes_.back(); }
  Index columns() const { return columns_; }  // of the results of one slice
  Index slices() const { return slices_; }    // products of two dimensions, one after the other
  // The first pixel of a slice, in a group's channels from the four-th group of four on.
  const std::uint8_t* slice(Index group, Index slice, Index four = 0) const;

 private:
  void fill_plane(Index four, Index phase, const std::uint8_t* image, std::uint8_t flip,
                  std::uint8_t zero) const;

  static constexpr std::size_t most_phases = 1024;
  static constexpr Index slack = 64 * 4 + 64;  // bytes that kernels may read beyond the last pixel

  Windows windows_;
  Index groups_ = 0, fours_ = 0, points_ = 0, columns_ = 0, slices_ = 0, plane_ = 0;
  IndexVector planes_, strides_;     // sizes of a plane, and pixels from index to index
  std::vector<IndexVector> phases_;  // remainders, for each plane
  bool whole_ = false;               // a plane is the image, without padding
  KeptMemory steps_memory_, memory_;
  Index stored_fours_ = 0, step_ = 0;
  Index *steps_ = nullptr, *point_steps_ = nullptr;
  std::uint8_t* pixels_ = nullptr;
};

}  // namespace touchstone::optimized
