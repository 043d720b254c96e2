// Measured peak rates of the machine; reports quote fractions of them.
#pragma once

#include <string>

#include "core/shape.h"

namespace touchstone::bench {

struct Roof {
  Index threads = 1;
  std::string vectors;    // "avx512f": the instruction set of the loop
  double flops = 0;       // float32 operations per second; a multiply-add from registers is two
  double copy_bytes = 0;  // per second, read and written by a copy much larger than caches
};

// Returns the best of many short trials: noise only lowers a rate.
Roof measure_roof(Index threads);

}  // namespace touchstone::bench
