// Table of vectorized copies, written so that a compiler generates loads, shuffles and stores.
// vector_copies.cc is compiled once per instruction set. Elements are copied as bits.
#pragma once

#include <array>
#include <cstdint>

namespace touchstone::optimized {

using Stride =
    std::int64_t;  // core's Index: files compiled for newer processors include no core header

// Row length in bytes from which memcpy is as fast as any routine here.
constexpr Stride long_row = 2048;

// A stride or extent for each of two dimensions.
struct Grid {
  Stride row, next;
};

struct VectorCopies {
  // to[j * to_row + i] = from[i * from_row + j], for i below rows and j below columns.
  void (*transpose32)(const std::uint32_t* from, Stride from_row, std::uint32_t* to, Stride to_row,
                      Stride rows, Stride columns);
  void (*transpose64)(const std::uint64_t* from, Stride from_row, std::uint64_t* to, Stride to_row,
                      Stride rows, Stride columns);
  // Copies rows of `bytes` each; strides in bytes.
  void (*copy_rows)(const char* from, Stride from_row, char* to, Stride to_row, Stride rows,
                    Stride bytes);
  // Copies a two-dimensional grid of contiguous rows of `bytes` each, along `row` and `next`;
  // strides in bytes.
  void (*copy_grid)(const char* from, Grid source_strides, char* to, Grid target_strides,
                    Grid extents, Stride bytes);
  // The same with non-temporal stores. Adjacent rows along `row` are contiguous in `to`. Sizes,
  // strides and addresses are multiples of four; a row has 12 bytes, or 16 or more.
  void (*stream_grid)(const char* from, Grid source_strides, char* to, Grid target_strides,
                      Grid extents, Stride bytes);
  // Writes each of `count` channel blocks of a row `times` times.
  void (*repeat)(const float* from, Stride from_column, float* to, Stride to_column, Stride count,
                 Stride times);
  // Computes on float32: to[j * width + i] = from[j * width + i] * by[j], for j below rows. The
  // width is a multiple of eight.
  void (*scale_rows)(const float* from, const float* by, float* to, Stride rows, Stride width);
  // Transforms the taps of `width` 3x3 kernels into the weights of each product of Winograd's F(m x
  // m, 3 x 3), in double: from taps[tap * width + k] to to[p * product + k]. The width is a
  // multiple of eight.
  void (*winograd_weights_2)(const float* taps, float* to, Stride product, Stride width);
  void (*winograd_weights_4)(const float* taps, float* to, Stride product, Stride width);
};

const VectorCopies& vector_copies_sse41();
const VectorCopies& vector_copies_avx2();
const VectorCopies& vector_copies_avx512();

}  // namespace touchstone::optimized
