// A call of a compiled kernel with everything in place: it can be made again and again, from any
// thread, and allocates nothing.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "optimized/canonical/problem.h"
#include "optimized/canonical/reduce.h"

namespace touchstone {

using CompiledKernel =
    int (*)(void** arguments);  // made ahead of time by Halide; not 0 where it failed

// Numbers and flags that are decided once a call, in the order of the kernel's arguments.
class CallValues {
 public:
  template <class T>
  void add(T value) {
    std::memcpy(slots_.emplace_back().bytes, &value, sizeof value);
  }
  std::size_t size() const { return slots_.size(); }
  // Kernels read it and do not write it.
  void* at(std::size_t k) const { return const_cast<std::byte*>(slots_[k].bytes); }

 private:
  struct Slot {
    alignas(8) std::byte bytes[8];
  };
  std::vector<Slot> slots_;
};

// Calls an elementwise kernel without keeping anything: at most eight inputs, nothing is allocated.
// Extents and strides innermost first. Throws as PreparedCall::run does.
void call_elementwise(CompiledKernel kernel, const std::array<Index, 4>& extents,
                      std::span<const Placed<4>> inputs, const CallValues& values, float* output,
                      const std::array<Index, 4>& output_strides);

class PreparedCall {
 public:
  PreparedCall(CompiledKernel kernel, const Problem<4>& problem, CallValues values);
  PreparedCall(CompiledKernel kernel, const ReduceProblem& problem, CallValues values);
  ~PreparedCall();
  PreparedCall(PreparedCall&&) noexcept;
  PreparedCall& operator=(PreparedCall&&) noexcept;

  // Throws Error (internal, out_of_memory) with Halide's words where the kernel fails.
  void run() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace touchstone
