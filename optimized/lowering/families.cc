// Table of the kernel families.
#include "optimized/lowering/families.h"

namespace touchstone {

std::span<const KernelFamily* const> kernel_families() {
  static const std::vector<const KernelFamily*> all{
      &bodies_family,
      &elements_family,
      &moves_family,
  };
  return all;
}

}  // namespace touchstone
