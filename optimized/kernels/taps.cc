// Sums of some vectors at a time, which stay in registers over all taps.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_TAPS. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/taps.h"

namespace touchstone {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float);
using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;

template <int vectors>
inline void some(const TapSums& s, std::int64_t first) {
  Floats sums[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sums[v] = s.bias - Floats{};
  for (std::int64_t t = 0; t < s.taps; ++t) {
    const float* const from = s.in + s.offsets[t] + first;
    const float weight = s.weights[t];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      sums[v] += weight * *reinterpret_cast<const Anywhere*>(from + v * lanes);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v)
    *reinterpret_cast<Anywhere*>(s.out + first + v * lanes) = sums[v];
}

}  // namespace

void TOUCHSTONE_TAPS(const TapSums& s) {
  std::int64_t k = 0;
  for (; s.count - k > 7 * lanes; k += 8 * lanes) some<8>(s, k);
  for (; s.count - k > 3 * lanes; k += 4 * lanes) some<4>(s, k);
  for (; s.count - k > lanes; k += 2 * lanes) some<2>(s, k);
  for (; s.count > k; k += lanes) some<1>(s, k);
}

}  // namespace touchstone
