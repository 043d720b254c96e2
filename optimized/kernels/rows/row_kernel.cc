// Selects the expressions that are compiled for the current processor.
#include "optimized/kernels/rows/row_kernel.h"

namespace touchstone::optimized {
namespace {

const ScalarExpression* chosen_expressions() { return BY_ISA(chosen_isa(), row_expressions)(); }

}  // namespace

RowKernel::RowKernel(ThreadPool& pool, std::span<float* const> scratch, RowKernelArrays& arrays)
    : expressions(chosen_expressions()), pool_(pool), scratch_(scratch), arrays_(arrays) {
  arrays_.begin();
}

}  // namespace touchstone::optimized
