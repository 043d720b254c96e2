// Conversions of 16-bit floats for the chosen instruction set, and the rounding to them as a kernel
// of pointwise regions.
#pragma once

#include "core/types.h"
#include "optimized/kernels/compiled.h"
#include "optimized/kernels/half.h"

namespace touchstone::optimized {

// `type`: float16 or bfloat16.
const HalfKernels& half_kernels(Type type);

// Rounds the elements of a four-dimensional buffer; called as the kernels that Halide compiles.
CompiledSet rounding_kernel(Type type);

}  // namespace touchstone::optimized
