// Choice of the kernels that sum lists.
#include "optimized/lowering/packed_lists.h"

#include "optimized/registry/isa.h"

namespace touchstone::optimized {

const ListKernels& list_kernels() { return BY_ISA(chosen_isa(), list_sums)(); }

}  // namespace touchstone::optimized
