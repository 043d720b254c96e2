// Slices of a tensor along one axis, and tensors put together from them: what operators that run a
// graph step by step hand in and gather. Elements of any type are moved as they stand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// The part of `whole` at position `at` of `axis`, without that axis.
Tensor slice(const Tensor& whole, Index axis, Index at);

// The parts of `whole` at these positions of `axis`, in this order.
Tensor picked(const Tensor& whole, Index axis, const Point& positions);

// The part of `whole` that starts at `from` of `axis` and is `length` long; it lies inside.
Tensor cut(const Tensor& whole, Index axis, Index from, Index length);

// Tensors of one type and shape (at least one), along a new axis.
Tensor stacked(const std::vector<Tensor>& parts, Index axis);

// Tensors of one type (at least one), whose shapes may differ along `axis`, one behind the other
// along it.
Tensor joined(const std::vector<Tensor>& parts, Index axis);

// One output of a graph that runs again and again, gathered along a new axis.
class Stack {
 public:
  explicit Stack(const ValueInfo& declared) : declared_(declared) {}

  // Throws Error (invalid_input) where the value is no tensor, or not like those before it.
  void add(Value value);
  void skip();  // a place that stays zero

  // `backward`: the last one first. Of no run it is empty, in the type and shape that the graph
  // declares (an extent that is left open is 0); invalid_model if it declares none.
  Tensor whole(Index axis = 0, bool backward = false) const;

 private:
  Tensor like() const;  // one part, of zeros

  const ValueInfo& declared_;
  std::vector<std::optional<Tensor>> parts_;
  std::optional<Tensor> first_;
};

}  // namespace touchstone
