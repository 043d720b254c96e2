// Sizes of the matmul's register tiles, as the generator unrolls them and the caller counts by
// them.
#pragma once

namespace touchstone::optimized {

// A panel is two vectors of columns; a tile is `rows` x `panels` of them. Tiles of few rows take
// more panels, so that enough sums are in flight to hide the latency of an addition.
inline constexpr int panel_vectors = 2;
inline constexpr int gemm_tile_rows[] = {8, 6, 5, 4, 3, 2, 1};
inline constexpr int max_gemm_tile_rows(int registers) { return registers == 32 ? 12 : 6; }
inline constexpr int max_gemm_tile_panels(int registers, int rows) {
  const int sums = registers == 32 ? 24 : 12;
  for (int panels : {4, 2}) {
    if (rows * panels * panel_vectors <= sums) return panels;
  }
  return 1;
}

// A share of the depth, and the row stride of A where rows are copied for a tile: an odd number of
// cache lines, so that they do not all map to one set of L1.
inline constexpr int gemm_depth = 512, gemm_row_stride = gemm_depth + 16;

}  // namespace touchstone::optimized
