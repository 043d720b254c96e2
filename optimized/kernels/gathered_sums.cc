// Loops that the compiler turns into vectors of gathered elements. Compiled once per instruction
// set, with TOUCHSTONE_GATHERED_SUMS, without contraction of products and sums. Calls no inline
// function of other headers, as in ordered.cc.
#include "optimized/kernels/gathered_sums.h"

namespace touchstone::optimized {

namespace {

template <int taps>
void sums_of(const GatheredTaps& t, const float* __restrict from, float* __restrict to) {
  const std::int32_t* const at = t.at;
  const float* const share = t.share;
  const std::int64_t points = t.points, stride = t.stride;
  for (std::int64_t k = 0; k < points; ++k) {
    float sum = 0;
#pragma GCC unroll 8
    for (int tap = 0; tap < taps; ++tap)
      sum += from[at[tap * stride + k]] * share[tap * stride + k];
    to[k] = sum;
  }
}

void any_sums(const GatheredTaps& t, const float* __restrict from, float* __restrict to) {
  for (std::int64_t k = 0; k < t.points; ++k) to[k] = 0;
  for (std::int64_t tap = 0; tap < t.taps; ++tap) {
    const std::int32_t* const at = t.at + tap * t.stride;
    const float* const share = t.share + tap * t.stride;
    for (std::int64_t k = 0; k < t.points; ++k) to[k] += from[at[k]] * share[k];
  }
}

}  // namespace

void TOUCHSTONE_GATHERED_SUMS(const GatheredTaps& taps, const float* from, float* to) {
  if (taps.taps == 1) return sums_of<1>(taps, from, to);
  if (taps.taps == 2) return sums_of<2>(taps, from, to);
  if (taps.taps == 4) return sums_of<4>(taps, from, to);
  if (taps.taps == 8) return sums_of<8>(taps, from, to);
  any_sums(taps, from, to);
}

}  // namespace touchstone::optimized
