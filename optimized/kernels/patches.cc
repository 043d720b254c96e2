// Copies of image rows into the panels of a matmul.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_PATCHES. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/patches.h"

namespace touchstone::optimized {

namespace {

constexpr std::int64_t lanes = TOUCHSTONE_VECTOR_BYTES / sizeof(float), panel = 2 * lanes;

using Anywhere
    __attribute__((vector_size(TOUCHSTONE_VECTOR_BYTES), aligned(alignof(float)), may_alias)) =
        float;

inline void clear(float* to, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = 0;
}

inline void copy(const float* from, float* to, std::int64_t count) {
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes)
    *reinterpret_cast<Anywhere*>(to + k) = *reinterpret_cast<const Anywhere*>(from + k);
  for (; k < count; ++k) to[k] = from[k];
}

inline std::int64_t within(std::int64_t at, std::int64_t count) {
  return at < 0 ? 0 : at < count ? at : count;
}

}  // namespace

void TOUCHSTONE_PATCHES(const PatchRun* runs, const std::int64_t* lines, std::int64_t count,
                        const float* plane, const PatchTap& tap, std::int64_t row) {
  const std::int64_t stride = tap.stride, below = row * panel;
  for (std::int64_t k = 0; k < count; ++k) {
    const PatchRun& run = runs[k];
    float* const to = run.to + below;
    if (lines[k] < 0) {
      clear(to, run.count);
      continue;
    }
    const std::int64_t low = within(tap.low - run.x, run.count);
    const std::int64_t high = within(tap.high - run.x, run.count);
    if (low >= high) {
      clear(to, run.count);
      continue;
    }
    const float* const from = plane + lines[k] + tap.shift + (run.x + low) * stride;
    clear(to, low);
    if (stride == 1) {
      copy(from, to + low, high - low);
    } else {
      for (std::int64_t i = low; i < high; ++i) to[i] = from[(i - low) * stride];
    }
    clear(to + high, run.count - high);
  }
}

}  // namespace touchstone::optimized
