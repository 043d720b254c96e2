// Sums of some vectors at a time, which stay in registers over all taps.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_TAPS. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/taps.h"

namespace touchstone::optimized {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float);
using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;

template <int filters, int vectors>
inline void some(const TapSums& s, std::int64_t first) {
  Floats sums[filters][vectors];
#pragma GCC unroll 8
  for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sums[f][v] = (s.bias ? s.bias[f] : 0.0F) - Floats{};
  }
  const float* weight = s.weights;
  for (std::int64_t t = 0; t < s.taps; ++t, weight += filters) {
    const float* const from = s.in + s.offsets[t] + first;
    Floats in[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) in[v] = *reinterpret_cast<const Anywhere*>(from + v * lanes);
#pragma GCC unroll 8
    for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sums[f][v] += weight[f] * in[v];
    }
  }
#pragma GCC unroll 8
  for (int f = 0; f < filters; ++f) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v)
      *reinterpret_cast<Anywhere*>(s.out + f * s.out_stride + first + v * lanes) = sums[f][v];
  }
}

template <int filters, int vectors>
void all(const TapSums& s) {
  std::int64_t k = 0;
  for (; s.count - k > (vectors - 1) * lanes; k += vectors * lanes) some<filters, vectors>(s, k);
  for (; s.count > k; k += lanes) some<filters, 1>(s, k);
}

// Vectors of a tile, so that sums fit into the registers: 32, or 16.
constexpr int registers = TOUCHSTONE_VECTOR_BYTES == 64 ? 24 : 12;

}  // namespace

void TOUCHSTONE_TAPS(const TapSums& s) {
  if (s.filters == 8) return all < 8, registers == 24 ? 3 : 1 > (s);
  if (s.filters == 4) return all<4, registers / 4>(s);
  if (s.filters == 2) return all < 2, registers == 24 ? 8 : 6 > (s);
  all<1, 8>(s);
}

}  // namespace touchstone::optimized
