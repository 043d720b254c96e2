// Rows of the table of kernel families: one function a file of optimized/lowering.
#pragma once

#include <span>

#include "optimized/lowering/lowering.h"

namespace touchstone {

extern const KernelFamily integer_convolution_family;
extern const KernelFamily integer_matmul_family;
extern const KernelFamily quantise_family;

// In the order in which they are asked.
std::span<const KernelFamily* const> kernel_families();

}  // namespace touchstone
