// Table of the kernel families.
#include "optimized/lowering/families.h"

namespace touchstone {

std::span<const KernelFamily* const> kernel_families() {
  static const std::vector<const KernelFamily*> all{&integer_convolution_family,
                                                    &integer_matmul_family, &quantise_family};
  return all;
}

}  // namespace touchstone
