// What generated adapters stand on: they name what a definition reads, by the entry's own index
// expressions; from there on only the form counts.
#pragma once

#include <cstring>
#include <vector>

#include "optimized/canonical/elementwise.h"
#include "optimized/canonical/reduce.h"
#include "optimized/registry/registry.h"
#include "reference/kernel.h"

namespace touchstone {

// Numbers and flags that are decided once a call, in the order of the kernel's arguments.
class CallValues {
 public:
  template <class T>
  void add(T value) {
    std::memcpy(slots_.emplace_back().bytes, &value, sizeof value);
  }
  void append_to(std::vector<void*>& arguments) {
    for (Slot& slot : slots_) arguments.push_back(slot.bytes);
  }

 private:
  struct Slot {
    alignas(8) std::byte bytes[8];
  };
  std::vector<Slot> slots_;
};

// Calls a kernel on canonical problems. Throws Error (internal) with Halide's words where it fails.
void call_kernel(CompiledKernel kernel, const Problem<4>& problem, CallValues& values);
void call_kernel(CompiledKernel kernel, const ReduceProblem& problem, CallValues& values);

class ElementwiseCall {
 public:
  explicit ElementwiseCall(View<float> output) : output_(std::move(output)) {}
  template <class F>
  void read(const View<const float>& view, F point) {
    inputs_.push_back(operand(view, output_.shape, point));
  }
  template <class T>
  void value(T value) {
    values_.add(value);
  }
  void run(const KernelTable& kernels, Isa isa);

 private:
  View<float> output_;
  std::vector<Operand> inputs_;
  CallValues values_;
};

class ReduceCall {
 public:
  ReduceCall(View<float> output, Shape reduced)
      : output_(std::move(output)), reduced_(std::move(reduced)) {}
  template <class F>
  void read(const View<const float>& view, F point) {
    const Index kept = output_.shape.size();
    inputs_.push_back(operand(view, join(output_.shape, reduced_), [&](const Point& p) {
      return Point(point(head(p, kept), tail(p, kept)));
    }));
  }
  template <class T>
  void value(T value) {
    values_.add(value);
  }
  void run(const KernelTable& kernels, Isa isa);

 private:
  View<float> output_;
  Shape reduced_;
  std::vector<Operand> inputs_;
  CallValues values_;
};

}  // namespace touchstone
