// Weights that the next step reads. A kernel prefetches them while it works:
// kernels/halide/prefetch.h.
#pragma once

#include "core/shape.h"

namespace touchstone::optimized {

struct PrefetchHint {
  const float* data = nullptr;
  Index size = 0;  // in floats
};

}  // namespace touchstone::optimized
