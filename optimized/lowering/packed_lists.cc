// Choice of the kernels that sum lists.
#include "optimized/lowering/packed_lists.h"

#include "optimized/registry/isa.h"

namespace touchstone::optimized {

const ListKernels& list_kernels() {
  return by_isa(chosen_isa(), list_sums_sse41, list_sums_avx2, list_sums_avx512)();
}

}  // namespace touchstone::optimized
