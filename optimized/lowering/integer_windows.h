// Inputs and windows of the convolutions of 8-bit integers, ConvInteger and QLinearConv.
#pragma once

#include <cstddef>

#include "core/shape.h"
#include "reference/facts.h"
#include "reference/kernel.h"

namespace touchstone::optimized {

inline constexpr std::size_t absent_input = 99;

// Positions of the inputs.
struct Places {
  std::size_t x, w, x_zero, w_zero, x_scale = absent_input, w_scale = absent_input,
                                    y_scale = absent_input, y_zero = absent_input,
                                    bias = absent_input;
};
const Places& places_of(const Node& node);

// Windows of a call whose rules hold, with at least one spatial dimension.
struct Windows {
  IndexVector image, kernel, spread, step, before, extents;
  Index channels = 0, filters = 0;  // of a group
  Shape made;
};
Windows windows_of(const Facts& facts, bool quantised);

}  // namespace touchstone::optimized
