// What generated adapters stand on: they name what a definition reads, by the entry's own index
// expressions; from there on only the form counts.
#pragma once

#include <vector>

#include "optimized/canonical/elementwise.h"
#include "optimized/canonical/reduce.h"
#include "optimized/registry/registry.h"
#include "reference/kernel.h"

namespace touchstone {

// The output of a call: where it is wanted, or a tensor of its own.
inline View<float> output_of(Bind& bind, const KernelUse& use, const Shape& shape) {
  if (use.to.data == nullptr) return bind.out<float>(0, Type::float32, shape);
  if (use.to.shape != shape) BUG("a generated kernel makes another shape than was inferred");
  return {use.to.data, shape, Type::float32};
}

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

}  // namespace touchstone
