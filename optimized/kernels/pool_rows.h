// Rows of a pool: combines the elements of one term of all windows of an output row. pool_rows.cc
// is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

enum class PoolRow { largest, sum, sum_of_magnitudes, sum_of_squares };

// to[k] = combined(to[k], from[k * stride]) for k in [0, count). NaN is larger than any number.
using PoolRowKernel = void (*)(PoolRow row, const float* from, std::int64_t stride, float* to,
                               std::int64_t count);
void pool_rows_sse41(PoolRow row, const float* from, std::int64_t stride, float* to,
                     std::int64_t count);
void pool_rows_avx2(PoolRow row, const float* from, std::int64_t stride, float* to,
                    std::int64_t count);
void pool_rows_avx512(PoolRow row, const float* from, std::int64_t stride, float* to,
                      std::int64_t count);

}  // namespace touchstone
