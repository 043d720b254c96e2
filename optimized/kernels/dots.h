// Row vector times a transposed matrix, whose columns are contiguous and read in place. dots.cc is
// compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

struct Dots {
  const float* a;  // `depth` numbers
  const float* b;  // column n of B begins at b + n * column_stride
  std::int64_t column_stride;
  const float* bias;  // one number per column, or null
  float* c;           // c[n] = clamp(a . column n + bias[n]); NaN stays
  std::int64_t depth;
  float min, max;
};

// Columns read in parallel; parts of a product should be multiples of it.
inline constexpr std::int64_t dots_at_once = 4;

// Computes columns [first, first + count). The summation order does not depend on the split into
// parts.
using DotsKernel = void (*)(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_sse41(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_avx2(const Dots& dots, std::int64_t first, std::int64_t count);
void dots_avx512(const Dots& dots, std::int64_t first, std::int64_t count);

}  // namespace touchstone::optimized
