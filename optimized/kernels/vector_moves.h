// Moves of elements that a compiler turns into loads, shuffles and stores: vector_moves.cc,
// compiled once for each instruction set. An element is its bits.
#pragma once

#include <array>
#include <cstdint>

namespace touchstone {

using Steps = std::int64_t;  // core's Index: what is compiled for newer processors includes no core

// Bytes of a row from which on memcpy is as fast as anything here.
constexpr Steps long_row = 2048;

// What is said of two dimensions.
struct Grid {
  Steps row, next;
};

struct VectorMoves {
  // to[j * to_row + i] = from[i * from_row + j], for i below rows and j below columns.
  void (*transpose32)(const std::uint32_t* from, Steps from_row, std::uint32_t* to, Steps to_row,
                      Steps rows, Steps columns);
  void (*transpose64)(const std::uint64_t* from, Steps from_row, std::uint64_t* to, Steps to_row,
                      Steps rows, Steps columns);
  // Rows of `bytes` each, by steps in bytes.
  void (*copy_rows)(const char* from, Steps from_row, char* to, Steps to_row, Steps rows,
                    Steps bytes);
  // Dense rows of `bytes` each, one after the other along `row` and along `next`; steps in bytes.
  void (*copy_grid)(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                    Steps bytes);
  // The same past the caches: rows that follow each other along `row` lie together in `to`. Bytes,
  // steps and places are multiples of four, and a row has twelve bytes, or sixteen or more.
  void (*stream_grid)(const char* from, Grid from_steps, char* to, Grid to_steps, Grid extents,
                      Steps bytes);
  // Each of `count` channel blocks of a row `times` times over.
  void (*repeat)(const float* from, Steps from_column, float* to, Steps to_column, Steps count,
                 Steps times);
  // Numbers, for once: to[j * width + i] = from[j * width + i] * by[j], for j below rows. The width
  // is a multiple of eight.
  void (*scale_rows)(const float* from, const float* by, float* to, Steps rows, Steps width);
  // What each of the products of Winograd's F(m x m, 3 x 3) takes of `width` kernels, computed in
  // double: to[p * product + k] of taps[tap * width + k]. The width is a multiple of eight.
  void (*winograd_weights_2)(const float* taps, float* to, Steps product, Steps width);
  void (*winograd_weights_4)(const float* taps, float* to, Steps product, Steps width);
};

const VectorMoves& vector_moves_sse41();
const VectorMoves& vector_moves_avx2();
const VectorMoves& vector_moves_avx512();

}  // namespace touchstone
