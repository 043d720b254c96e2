// Loops over the output row of a pool, which the compiler vectorizes.
//
// Compiled once per instruction set, with TOUCHSTONE_POOL_ROWS. Calls no inline function of the
// standard library, so that the linker cannot pick code for a newer processor for the rest of the
// program.
#include "optimized/kernels/pool_rows.h"

namespace touchstone {

namespace {

struct Largest {
  static float of(float held, float x) { return x > held || x != x ? x : held; }
};
struct Sum {
  static float of(float held, float x) { return held + x; }
};
struct SumOfMagnitudes {
  static float of(float held, float x) { return held + __builtin_fabsf(x); }
};
struct SumOfSquares {
  static float of(float held, float x) { return held + x * x; }
};

template <class Combined>
void combine(const float* __restrict from, std::int64_t stride, float* __restrict to,
             std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = Combined::of(to[k], from[k]);
  } else if (stride == 2) {
    for (std::int64_t k = 0; k < count; ++k) to[k] = Combined::of(to[k], from[2 * k]);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k] = Combined::of(to[k], from[k * stride]);
  }
}

}  // namespace

void TOUCHSTONE_POOL_ROWS(PoolRow row, const float* from, std::int64_t stride, float* to,
                          std::int64_t count) {
  switch (row) {
    case PoolRow::largest:
      return combine<Largest>(from, stride, to, count);
    case PoolRow::sum:
      return combine<Sum>(from, stride, to, count);
    case PoolRow::sum_of_magnitudes:
      return combine<SumOfMagnitudes>(from, stride, to, count);
    case PoolRow::sum_of_squares:
      return combine<SumOfSquares>(from, stride, to, count);
  }
}

}  // namespace touchstone
