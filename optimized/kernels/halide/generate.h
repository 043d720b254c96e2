// Registry of handwritten kernels, which no entry defines. A generator's source file registers the
// list of kernels to compile for an instruction set, and generate.cc compiles them.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace touchstone::optimized::generators {

struct WrittenKernel {
  std::string function;  // without the instruction set, which generate.cc appends
  Halide::Internal::ExecuteGeneratorArgs::CreateGeneratorFn create;
  Halide::GeneratorParamsMap params;
  bool prefetch = false;  // prefetches memory: kernels/halide/prefetch.h
};

template <class Kernel>
Halide::Internal::AbstractGeneratorPtr create(const std::string& name,
                                              const Halide::GeneratorContext& context) {
  return Kernel::create(context, name, name);
}

// `isa` is the suffix: "avx2".
using ListKernels = std::vector<WrittenKernel> (*)(const std::string& isa);

inline std::vector<ListKernels>& lists_of_kernels() {
  static std::vector<ListKernels> lists;
  return lists;
}

struct AddKernels {
  explicit AddKernels(ListKernels list) { lists_of_kernels().push_back(list); }
};

}  // namespace touchstone::optimized::generators
