// Arguments of a compiled kernel: extents and strides of a fixed rank, innermost first.
#pragma once

#include <array>
#include <vector>

#include "core/shape.h"

namespace touchstone::optimized {

template <std::size_t rank>
struct Placed {
  const float* data = nullptr;
  std::array<Index, rank> strides{};
};

template <std::size_t rank>
struct Problem {
  std::array<Index, rank> extents{};
  std::vector<Placed<rank>> inputs;
  float* output = nullptr;
  std::array<Index, rank> output_strides{};
};

// Farthest offset in elements: kernels count in 32 bits. A call that reaches farther in one
// dimension is split into several problems, or refused.
inline constexpr Index farthest = (Index{1} << 31) - 1;

}  // namespace touchstone::optimized
