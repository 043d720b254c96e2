// Sums of shifted copies of an array, each times a weight: a convolution of one channel whose image
// is stored with its padding. taps.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone {

struct TapSums {
  const float* in;
  const std::int64_t* offsets;  // out[k] = bias + sum over t of in[offsets[t] + k] * weights[t]
  const float* weights;
  std::int64_t taps;
  float bias;
  float* out;
  std::int64_t count;  // whole vectors are read and written: up to tap_slack more
};

inline constexpr std::int64_t tap_slack = 15;

using TapKernel = void (*)(const TapSums& sums);
void taps_sse41(const TapSums& sums);
void taps_avx2(const TapSums& sums);
void taps_avx512(const TapSums& sums);

}  // namespace touchstone
