// Test utilities for convolutions: reproducible random numbers, and images laid out as maps that
// end at an inaccessible page.
#pragma once

#include <cstdint>
#include <limits>

#include "optimized/kernels/blocked_image.h"
#include "optimized/kernels/paged_testing.h"

namespace touchstone::optimized::images {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float guard = 12345.0F;

class Numbers {  // deterministic generator
 public:
  int below(int limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }
  float integer() { return static_cast<float>(below(7) - 3); }
  float real() { return static_cast<float>(below(1 << 20)) / (1 << 19) - 1; }

 private:
  std::uint64_t state_ = 1;
};

// Image as [channel][row][column], and as a map in which all other elements are `around`.
struct Image {
  Index channels, rows, columns;
  testing::Paged<float> plain, laid;
  BlockedImage map{};
  Index lanes = 1;

  Image(Index channels, Index rows, Index columns)
      : channels(channels),
        rows(rows),
        columns(columns),
        plain(static_cast<std::size_t>(channels * rows * columns)) {}

  float& at(Index c, Index y, Index x) {
    return plain[static_cast<std::size_t>((c * rows + y) * columns + x)];
  }
  float& at_laid(Index c, Index y, Index x) {
    return map.data[c / lanes * map.block + y * map.row + x * map.column + c % lanes];
  }
  // Writes the map; with `of_lanes` 1 it is a plain input.
  void lay(Index of_lanes, Index margin, float around) {
    lanes = of_lanes;
    const Index blocks = (channels + lanes - 1) / lanes;
    map.column = lanes;
    map.row = (columns + 2 * margin) * lanes;
    map.block = (rows + 2 * margin) * map.row;
    laid.assign(static_cast<std::size_t>(blocks * map.block), around);
    map.data = laid.data() + margin * (map.row + map.column);
    for (Index c = 0; c < channels; ++c) {
      for (Index y = 0; y < rows; ++y) {
        for (Index x = 0; x < columns; ++x) at_laid(c, y, x) = at(c, y, x);
      }
    }
  }
};

}  // namespace touchstone::optimized::images
