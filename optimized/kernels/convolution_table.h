// Table of the compiled convolution kernels that convolution_tiles.h lists.
#pragma once

#include <string_view>
#include <vector>

#include "optimized/kernels/blocked_image.h"

namespace touchstone::optimized {

struct ConvolutionKernel {
  enum class Kind { blocked, plain, depthwise, depthwise3 };
  Isa isa;
  Kind kind;
  Index step, blocks, columns, rows;
  int (*run)(void** arguments);
  std::string_view name;
};

const std::vector<ConvolutionKernel>& convolution_kernels();

}  // namespace touchstone::optimized
