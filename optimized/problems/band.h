// Adjacent rows or columns of a convolution's output whose windows have the same taps in the image.
#pragma once

#include "core/shape.h"

namespace touchstone::optimized {

struct Band {
  Index first = 0, count = 0;     // output coordinates
  Index first_tap = 0, taps = 0;  // all other taps read padding
};

}  // namespace touchstone::optimized
