// Maps the operator family of a generated kernel to its kernel class.
#pragma once

#include "optimized/plan/kernel_class.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {

constexpr KernelClass class_of(Form form) {
  return form == Form::elementwise ? KernelClass::pointwise
         : form == Form::reduce    ? KernelClass::reduce
                                   : KernelClass::contract;
}

}  // namespace touchstone::optimized
