// Windows of the convolutions that run on images in channel blocks.
#pragma once

#include <optional>

#include "core/tensor.h"
#include "optimized/problems/window.h"

namespace touchstone::optimized {

// True if windows have terms, and 32-bit offsets reach over an image with its padding.
bool is_near(const Window& window, const Shape& x, const Shape& made);

// Returns the window of a convolution that runs in channel blocks, else nullopt. Taps that read
// padding alone are cut off.
std::optional<Window> window_in_blocks(const Facts& node, const Shape& x, const Tensor& weights,
                                       const Shape& made);

// Returns the window of a transposed convolution that splits into phases, else nullopt.
std::optional<Window> window_in_phases(const Facts& node, const Shape& x, const Tensor& weights,
                                       const Shape& made);

// True if no float32 weight is NaN or infinite: else products with padding would be NaN.
bool all_finite(const Tensor& weights);

}  // namespace touchstone::optimized
