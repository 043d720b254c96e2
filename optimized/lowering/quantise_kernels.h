// Kernels of quantization for an instruction set.
#pragma once

#include "core/error.h"
#include "optimized/kernels/quantise.h"
#include "optimized/registry/isa.h"

namespace touchstone {

inline const QuantiseKernels& quantise_kernels(Isa isa) {
  switch (isa) {
    case Isa::sse41:
      return quantise_sse41;
    case Isa::avx2:
      return quantise_avx2;
    case Isa::avx512:
      return quantise_avx512;
  }
  BUG("an instruction set without kernels of quantization");
}

}  // namespace touchstone
