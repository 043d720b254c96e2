// Weighted sums of elements anywhere in an image, for many points: the same taps in each channel.
// gathered_sums.cc is compiled once per instruction set; each set gives the same bits.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

// Taps of one point follow those of the point before by 1; of one tap, by `stride`.
struct GatheredTaps {
  const std::int32_t* at;  // elements of the image
  const float* share;      // their weights
  std::int64_t taps, stride, points;
};

// to[k] = sum over t, ascending from 0, of from[at[t * stride + k]] * share[t * stride + k].
using GatherKernel = void (*)(const GatheredTaps& taps, const float* from, float* to);
void gathered_sums_sse41(const GatheredTaps& taps, const float* from, float* to);
void gathered_sums_avx2(const GatheredTaps& taps, const float* from, float* to);
void gathered_sums_avx512(const GatheredTaps& taps, const float* from, float* to);

}  // namespace touchstone::optimized
