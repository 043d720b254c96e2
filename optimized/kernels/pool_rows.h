// Rows of a pool: combines the elements of one term of all windows of an output row. pool_rows.cc
// is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

enum class PoolRow { largest, sum, sum_of_magnitudes, sum_of_squares };

// A term of all windows of an output row: to[to + k] takes line[from + k * stride], 0 <= k < count.
struct PoolTerm {
  std::int64_t from, to, count;
};
// Input lines of `width` floats that an output row reads, each by the same terms.
struct PoolLines {
  const float* const* lines;
  std::int64_t line_count, width;
  const PoolTerm* terms;
  std::int64_t term_count, stride;
};

// Combines each number of `to` with the terms of its window. NaN is larger than any number.
using PoolRowKernel = void (*)(PoolRow row, const PoolLines& of, float* to);
void pool_rows_sse41(PoolRow row, const PoolLines& of, float* to);
void pool_rows_avx2(PoolRow row, const PoolLines& of, float* to);
void pool_rows_avx512(PoolRow row, const PoolLines& of, float* to);

enum class Isa;
PoolRowKernel pool_rows_of(Isa isa);

}  // namespace touchstone::optimized
