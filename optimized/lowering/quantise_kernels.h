// Kernels of quantization for an instruction set.
#pragma once

#include "optimized/kernels/quantise.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

inline const QuantiseKernels& quantise_kernels(Isa isa) { return BY_ISA(isa, quantise); }

}  // namespace touchstone::optimized
