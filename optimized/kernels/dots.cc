// Dot products of a row with the columns of a transposed matrix. Eight vector sums run in parallel
// to hide latency: two for each of four columns, the number of memory streams that gives the best
// bandwidth.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_DOTS. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/dots.h"

namespace touchstone::optimized {

namespace {

constexpr int lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float), deep = 2;

using Floats __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = float;
using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;
using Bits __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES))) = std::int32_t;

inline Floats load(const float* at) { return *reinterpret_cast<const Anywhere*>(at); }

// Clears the lanes before `from`, which are summed already. By mask, since multiplying an infinity
// by zero would give NaN.
inline Floats load_from(const float* at, std::int64_t from) {
  Bits lane;
  for (int k = 0; k < lanes; ++k) lane[k] = k;
  return reinterpret_cast<Floats>(reinterpret_cast<Bits>(load(at)) &
                                  (lane >= static_cast<std::int32_t>(from)));
}

inline float total(Floats sums) {
  float partial[lanes];
  for (int k = 0; k < lanes; ++k) partial[k] = sums[k];
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) partial[k] += partial[k + half];
  }
  return partial[0];
}

template <int columns>
void some(const Dots& dots, std::int64_t first) {
  const float* a = dots.a;
  const float* b = dots.b + first * dots.column_stride;
  const std::int64_t depth = dots.depth, step = dots.column_stride;
  Floats sums[columns][deep] = {};
  std::int64_t k = 0;
  for (; k + deep * lanes <= depth; k += deep * lanes) {
#pragma GCC unroll 4
    for (int n = 0; n < columns; ++n) {
#pragma GCC unroll 2
      for (int d = 0; d < deep; ++d)
        sums[n][d] += load(b + n * step + k + d * lanes) * load(a + k + d * lanes);
    }
  }
  // The last vector ends at the column's end and overlaps elements that are summed already.
  for (; depth >= lanes && k < depth; k += lanes) {
    const std::int64_t over = k + lanes > depth ? k + lanes - depth : 0;
#pragma GCC unroll 4
    for (int n = 0; n < columns; ++n)
      sums[n][0] += load_from(b + n * step + k - over, over) * load_from(a + k - over, over);
  }
  for (int n = 0; n < columns; ++n) {
    float value = total(sums[n][0] + sums[n][1]);
    for (std::int64_t i = k; i < depth; ++i) value += b[n * step + i] * a[i];
    if (dots.bias != nullptr) value += dots.bias[first + n];
    const float raised = dots.min > value ? dots.min : value;
    dots.c[first + n] = dots.max < raised ? dots.max : raised;
  }
}

}  // namespace

void TOUCHSTONE_DOTS(const Dots& dots, std::int64_t first, std::int64_t count) {
  std::int64_t n = 0;
  for (; n + dots_at_once <= count; n += dots_at_once) some<dots_at_once>(dots, first + n);
  for (; n < count; ++n) some<1>(dots, first + n);
}

}  // namespace touchstone::optimized
