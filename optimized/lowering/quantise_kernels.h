// Kernels of quantization for an instruction set.
#pragma once

#include "optimized/kernels/quantise.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

inline const QuantiseKernels& quantise_kernels(Isa isa) {
  return by_isa(isa, quantise_sse41, quantise_avx2, quantise_avx512);
}

}  // namespace touchstone::optimized
