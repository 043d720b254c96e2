// Weights that are read when what is under way is done. A kernel asks for them while it works:
// schedules/asking.h.
#pragma once

#include "core/shape.h"

namespace touchstone {

struct Soon {
  const float* data = nullptr;
  Index size = 0;  // floats
};

}  // namespace touchstone
