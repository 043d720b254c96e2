// Calls of generated kernels on canonical problems.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "optimized/kernels/kernel.h"
#include "optimized/problems/problem.h"
#include "optimized/problems/reduce.h"

namespace touchstone::optimized {

// Scalar arguments of a call, numbers and flags, in the order of the kernel's arguments.
class CallValues {
 public:
  template <class T>
  void add(T value) {
    std::memcpy(slots_.emplace_back().bytes, &value, sizeof value);
  }
  std::size_t size() const { return slots_.size(); }
  // Kernels only read it.
  void* at(std::size_t k) const { return const_cast<std::byte*>(slots_[k].bytes); }

 private:
  struct Slot {
    alignas(8) std::byte bytes[8];
  };
  std::vector<Slot> slots_;
};

// Calls the kernel without allocating. Takes at most eight inputs; extents and strides innermost
// first. Throws Error (internal, out_of_memory) with Halide's message if the kernel fails.
void call_kernel(backends::CompiledKernel kernel, const std::array<Index, 4>& extents,
                 std::span<const Placed<4>> inputs, const CallValues& values, float* output,
                 const std::array<Index, 4>& output_strides);
void call_kernel(backends::CompiledKernel kernel, const Problem<4>& problem,
                 const CallValues& values);
void call_kernel(backends::CompiledKernel kernel, const ReduceProblem& problem,
                 const CallValues& values);

}  // namespace touchstone::optimized
