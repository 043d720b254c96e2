// Sums of few products of 8-bit integers, one filter for each channel. integer_rows.cc is compiled
// once per instruction set.
#pragma once

#include <cstdint>

#include "optimized/kernels/integer_tiles.h"

namespace touchstone::optimized {

// Four channels of an image, each with a filter of its own. Sums are rounded like Requantise.
struct IntegerChannels {
  const std::uint8_t* pixels;  // columns of four bytes
  const std::int64_t* steps;   // offset in bytes of each point of a window
  std::int64_t points;
  const std::int8_t* weights;  // of groups of four points: four for each channel, 0 beyond the last
  std::int32_t offsets[4];     // added to the sums
  float by[4], y_zero;
  bool is_signed;         // of y
  std::int64_t channels;  // that exist
  std::int64_t columns;   // in lines: results are the first `width` of each `pitch`
  std::int64_t pitch, width;
  std::int64_t row;  // numbers from channel to channel of y
  std::uint8_t* y;
};

struct IntegerRowKernels {
  // sums[n] += weight * from[n * step], of signed or unsigned numbers.
  void (*weigh)(const std::uint8_t* from, std::int64_t step, std::int64_t count, bool is_signed,
                std::int32_t weight, std::int32_t* sums);
  // to[n] = the larger of to[n] and from[n * step], of signed or unsigned numbers.
  void (*largest)(const std::uint8_t* from, std::int64_t step, std::int64_t count, bool is_signed,
                  std::uint8_t* to);
  // Filters channels; reads whole vectors of columns. Null: there is none.
  void (*filter)(const IntegerChannels& channels);
  // Rounds sums of row m from column n on; at most most_columns.
  void (*round)(const Requantise& to, std::int64_t m, std::int64_t row, std::int64_t n,
                std::int64_t count, const std::int32_t* sums);
};

extern const IntegerRowKernels integer_rows_sse41, integer_rows_avx2, integer_rows_avx512,
    integer_rows_vnni;

}  // namespace touchstone::optimized
