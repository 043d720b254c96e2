// Convolution of one block of output channels whose lanes belong to several groups: each step of
// the sum picks an input channel for every lane. grouped_tiles.cc is compiled once per instruction
// set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

struct GroupedTiles {
  using Stride = std::int64_t;

  const float* input;          // element that the first tap of the first point reads, of block 0
  Stride column, row;          // strides between output points
  Stride tap_column, tap_row;  // strides between taps
  Stride block;                // of the input
  Stride tap_columns, tap_rows;
  // Per step: two source blocks, and for each lane the number of an element in the first or, from
  // the number of lanes on, in the second. `sources`: blocks in use; 0 if all lanes pick the same,
  // 3 if they pick two elements.
  Stride steps;
  int sources;
  const std::int64_t* blocks;
  const std::int32_t* picks;
  const float* weights;  // [row of taps][step][column of taps][lane]
  const float* bias;
  const float* residual;  // clamp(sum + bias + residual); NaN stays
  Stride residual_column, residual_row;
  float* output;
  Stride output_column, output_row;
  Stride rows;
  const std::int32_t* tiles;  // widths that add up to the columns; see grouped_widths
  Stride tile_count;
  float min, max;
};

// Widths of tiles; those of more points need the 32 registers of AVX-512.
inline constexpr std::int32_t grouped_widths[] = {14, 8, 7, 4, 2, 1};

using GroupedKernel = void (*)(const GroupedTiles& tiles);
void grouped_tiles_sse41(const GroupedTiles& tiles);
void grouped_tiles_avx2(const GroupedTiles& tiles);
void grouped_tiles_avx512(const GroupedTiles& tiles);

}  // namespace touchstone::optimized
