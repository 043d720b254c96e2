// Base of generated adapters, which lower an operator call to kernel calls. An adapter names its
// operands by the entry's own index expressions; everything after that depends only on the operator
// family.
#pragma once

#include <vector>

#include "optimized/problems/elementwise.h"
#include "optimized/problems/reduce.h"
#include "optimized/registry/registry.h"
#include "reference/kernel.h"

namespace touchstone::optimized {

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
  void run(const KernelUse& use);

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
    inputs_.push_back(operand(view, join(output_.shape, reduced_), [&](const IndexVector& p) {
      return IndexVector(point(head(p, kept), tail(p, kept)));
    }));
  }
  template <class T>
  void value(T value) {
    values_.add(value);
  }
  void run(const KernelUse& use);

 private:
  View<float> output_;
  Shape reduced_;
  std::vector<Operand> inputs_;
  CallValues values_;
};

// Sums of products; calls are only recorded, never run here.
using ContractCall = ReduceCall;

}  // namespace touchstone::optimized
