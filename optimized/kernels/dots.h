// A row times the columns of a matrix that lie dense, read as they stand: dots.cc, compiled once
// for each instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

struct Dots {
  const float* a;  // `depth` numbers
  const float* b;  // column n of B begins at b + n * column_step
  std::int64_t column_step;
  const float* bias;  // a number for each column, or null
  float* c;           // c[n] = clamp(a . column n + bias[n]); NaN stays
  std::int64_t depth;
  float least, most;
};

// Columns that are read side by side: parts of a product had better be multiples.
inline constexpr std::int64_t dots_at_once = 4;

// Columns [first, first + count). Each is summed in the same order, whatever the part.
using DotsKernel = void (*)(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_sse41(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_avx2(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_avx512(const Dots& dots, std::int64_t first, std::int64_t count);

}  // namespace touchstone
