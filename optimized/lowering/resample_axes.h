// Reads the definition of Resize and Upsample: for each axis, the elements of the input that an
// element of the output is made of, and their weights.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor.h"
#include "reference/facts.h"

namespace touchstone::optimized {

struct ResampledAxis {
  Index in = 0, out = 0, taps = 1;
  bool kept = false;  // each element is one of the input's, in place
  Tensor index;       // int32 [taps, out]
  Tensor share;       // [taps, out], of the type that is summed in; undefined for nearest
  Tensor beyond;      // bool [out], only if positions may lie outside of the image
};

struct ResampledAxes {
  bool nearest = true;
  Shape shape;
  float extrapolation = 0;
  std::vector<ResampledAxis> axes;
};

// `real`: float32 or float64, the type in which positions and weights are computed. Returns nullopt
// for a call that only the reference computes or refuses. Throws as the reference does.
std::optional<ResampledAxes> resampled_axes(const Facts& facts, Type real);

}  // namespace touchstone::optimized
