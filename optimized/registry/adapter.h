// What generated adapters stand on: they name what a definition reads, by the entry's own index
// expressions; from there on only the form counts.
#pragma once

#include <vector>

#include "optimized/canonical/elementwise.h"
#include "optimized/canonical/reduce.h"
#include "optimized/registry/registry.h"
#include "reference/kernel.h"

namespace touchstone {

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
    inputs_.push_back(operand(view, join(output_.shape, reduced_), [&](const Point& p) {
      return Point(point(head(p, kept), tail(p, kept)));
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

// Sums of products: calls that are recorded alone.
using ContractCall = ReduceCall;

}  // namespace touchstone
