// Choice of the kernels that sum lists.
#include "optimized/lowering/packed_lists.h"

#include "optimized/registry/isa.h"

namespace touchstone {

const ListKernels& list_kernels() {
  switch (chosen_isa()) {
    case Isa::sse41:
      return list_sums_sse41();
    case Isa::avx2:
      return list_sums_avx2();
    case Isa::avx512:
      break;
  }
  return list_sums_avx512();
}

}  // namespace touchstone
