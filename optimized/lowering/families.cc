// Table of the kernel families.
#include "optimized/lowering/families.h"

namespace touchstone {

std::span<const KernelFamily* const> kernel_families() {
  static const std::vector<const KernelFamily*> all{&recurrent_family, &fourier_family};
  return all;
}

}  // namespace touchstone
