// The sizes of register tiles: what a kernel's generator unrolls, and what its caller counts by.
#pragma once

namespace touchstone {

// The product of matrices. A panel is two vectors of columns; a tile is `rows` x `panels` of them.
// Tiles of few rows take more panels, so that enough sums are under way to hide an addition's time.
inline constexpr int panel_vectors = 2;
inline constexpr int product_rows[] = {8, 6, 5, 4, 3, 2, 1};
inline constexpr int tallest_product(int registers) { return registers == 32 ? 12 : 6; }
inline constexpr int widest_product(int registers, int rows) {
  const int sums = registers == 32 ? 24 : 12;
  for (int panels : {4, 2}) {
    if (rows * panels * panel_vectors <= sums) return panels;
  }
  return 1;
}

// A share of the depth, and how far rows of A then lie apart where they are copied for a tile: an
// odd number of cache lines, so that they do not all fall into one set of the first cache.
inline constexpr int product_depth = 512, product_pitch = product_depth + 16;

}  // namespace touchstone
