// Moves of elements that a compiler turns into loads, shuffles and stores: vector_moves.cc,
// compiled once for each instruction set. An element is its bits.
#pragma once

#include <array>
#include <cstdint>

namespace touchstone {

using Stride =
    std::int64_t;  // core's Index: what is compiled for newer processors includes no core

// Bytes of a row from which on memcpy is as fast as anything here.
constexpr Stride long_row = 2048;

// What is said of two dimensions.
struct Grid {
  Stride row, next;
};

struct VectorMoves {
  // to[j * to_row + i] = from[i * from_row + j], for i below rows and j below columns.
  void (*transpose32)(const std::uint32_t* from, Stride from_row, std::uint32_t* to, Stride to_row,
                      Stride rows, Stride columns);
  void (*transpose64)(const std::uint64_t* from, Stride from_row, std::uint64_t* to, Stride to_row,
                      Stride rows, Stride columns);
  // Rows of `bytes` each, by steps in bytes.
  void (*copy_rows)(const char* from, Stride from_row, char* to, Stride to_row, Stride rows,
                    Stride bytes);
  // Dense rows of `bytes` each, one after the other along `row` and along `next`; steps in bytes.
  void (*copy_grid)(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                    Stride bytes);
  // The same past the caches: rows that follow each other along `row` lie together in `to`. Bytes,
  // steps and places are multiples of four, and a row has twelve bytes, or sixteen or more.
  void (*stream_grid)(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                      Stride bytes);
  // Each of `count` channel blocks of a row `times` times over.
  void (*repeat)(const float* from, Stride from_column, float* to, Stride to_column, Stride count,
                 Stride times);
  // Numbers, for once: to[j * width + i] = from[j * width + i] * by[j], for j below rows. The width
  // is a multiple of eight.
  void (*scale_rows)(const float* from, const float* by, float* to, Stride rows, Stride width);
  // What each of the products of Winograd's F(m x m, 3 x 3) takes of `width` kernels, computed in
  // double: to[p * product + k] of taps[tap * width + k]. The width is a multiple of eight.
  void (*winograd_weights_2)(const float* taps, float* to, Stride product, Stride width);
  void (*winograd_weights_4)(const float* taps, float* to, Stride product, Stride width);
};

const VectorMoves& vector_moves_sse41();
const VectorMoves& vector_moves_avx2();
const VectorMoves& vector_moves_avx512();

}  // namespace touchstone
