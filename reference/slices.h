// Slices of a tensor along one axis, and concatenation and stacking of tensors, for operators that
// run a graph per step. Elements of any type are copied unchanged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// The slice of `whole` at position `at` of `axis`, without that axis.
Tensor slice(const Tensor& whole, Index axis, Index at);

// The slices of `whole` at these positions of `axis`, in this order.
Tensor picked(const Tensor& whole, Index axis, const IndexVector& positions);

// The slice of `whole` from `from`, `length` long, along `axis`; it must be in range.
Tensor cut(const Tensor& whole, Index axis, Index from, Index length);

// Stacks tensors of one type and shape (at least one) along a new axis.
Tensor stacked(const std::vector<Tensor>& parts, Index axis);

// Concatenates tensors of one type (at least one), whose shapes may differ along `axis`.
Tensor joined(const std::vector<Tensor>& parts, Index axis);

// One output of a graph that runs repeatedly, stacked along a new axis.
class Stack {
 public:
  explicit Stack(const ValueInfo& declared) : declared_(declared) {}

  // Throws Error (invalid_input) if the value is not a tensor, or unlike the previous ones.
  void add(Value value);
  void skip();  // a position that stays zero

  // `backward`: in reverse order. After no run it is empty, with the graph's declared type and
  // shape (an open extent is 0); throws Error (invalid_model) if none is declared.
  Tensor whole(Index axis = 0, bool backward = false) const;

 private:
  Tensor like() const;  // one part, of zeros

  const ValueInfo& declared_;
  std::vector<std::optional<Tensor>> parts_;
  std::optional<Tensor> first_;
};

}  // namespace touchstone
