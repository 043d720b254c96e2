// Selects the expressions that are compiled for the current processor.
#include "optimized/kernels/rows/row_kernel.h"

namespace touchstone {
namespace {

const ScalarExpression* chosen_expressions() {
  switch (chosen_isa()) {
    case Isa::avx512:
      return row_expressions_avx512();
    case Isa::avx2:
      return row_expressions_avx2();
    default:
      return row_expressions_sse41();
  }
}

}  // namespace

RowKernel::RowKernel(ThreadPool& pool, std::span<float* const> scratch, RowKernelArrays& arrays)
    : expressions(chosen_expressions()), pool_(pool), scratch_(scratch), arrays_(arrays) {
  arrays_.begin();
}

}  // namespace touchstone
