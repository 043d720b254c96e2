// Sums of shifted copies of an array, each times a weight: a convolution of one image that is
// stored with its padding, by some filters at once. taps.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

struct TapSums {
  const float* in;
  const std::int64_t* offsets;  // out[f][k] = bias[f] + sum over t of in[offsets[t] + k] * w[t][f]
  const float* weights;         // those of one tap are next to each other
  std::int64_t taps, filters;   // 1, 2, 4, or 8 filters
  const float* bias;            // null: zeros
  float* out;
  std::int64_t out_stride;  // from a filter's results to the next one's: at least count + tap_slack
  std::int64_t count;       // whole vectors are read and written: up to tap_slack more
};

inline constexpr std::int64_t tap_slack = 15, most_tap_filters = 8;

using TapKernel = void (*)(const TapSums& sums);
void taps_sse41(const TapSums& sums);
void taps_avx2(const TapSums& sums);
void taps_avx512(const TapSums& sums);

}  // namespace touchstone::optimized
