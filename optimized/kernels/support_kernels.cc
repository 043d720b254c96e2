// Kernels of support vector machines, by vectors of doubles that are rounded once.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_SUPPORT_KERNELS,
// without contraction of products and sums. Calls no inline function of the standard library, as in
// ordered.cc.
#include "optimized/kernels/support_kernels.h"

#include "optimized/kernels/rows/lanes.h"

namespace touchstone::optimized {

namespace {

void tanh(float* sums, std::int64_t count, float scale, float shift) {
  for (std::int64_t k = 0; k < count; ++k) sums[k] = lanes::tanh(scale * sums[k] + shift);
}

// Squares of 2 to the degree's bits. A double holds every power of a float up to the eighth, and
// beyond overflows or vanishes where the rounded result does.
void powers(float* sums, std::int64_t count, float scale, float shift, int degree) {
  constexpr std::int64_t block = 64;
  double squares[block], made[block];
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t some = count - first < block ? count - first : block;
    for (std::int64_t k = 0; k < some; ++k) {
      const float x = scale * sums[first + k] + shift;
      squares[k] = x;
      made[k] = 1;
    }
    for (int left = degree;; left >>= 1) {
      if ((left & 1) != 0) {
        for (std::int64_t k = 0; k < some; ++k) made[k] *= squares[k];
      }
      if (left == 1) break;
      for (std::int64_t k = 0; k < some; ++k) squares[k] *= squares[k];
    }
    for (std::int64_t k = 0; k < some; ++k) sums[first + k] = static_cast<float>(made[k]);
  }
}

}  // namespace

const SupportKernels TOUCHSTONE_SUPPORT_KERNELS{tanh, powers};

}  // namespace touchstone::optimized
