// What the machine can do at most, measured: reports quote shares of it.
#pragma once

#include <string>

#include "core/shape.h"

namespace touchstone {

struct Roof {
  Index threads = 1;
  std::string vectors;    // "avx512f": what the loop was compiled for
  double flops = 0;       // float32 multiply-adds from registers, each two operations, a second
  double copy_bytes = 0;  // read and written by a copy much larger than caches, a second
};

// The best of many short trials: noise only ever takes away.
Roof measure_roof(Index threads);

}  // namespace touchstone
