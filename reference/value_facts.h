// What is known, before a model runs, of values that need not be tensors. Sequences and optionals
// have no shape of their own, but the tensors inside them may all have one.
#pragma once

#include <optional>
#include <vector>

#include "model/schema.h"
#include "reference/facts.h"

namespace touchstone {

constexpr Index any_size =
    -1;  // a size that nothing says, or that differs between the tensors of a sequence

struct ValueFacts {
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // of a tensor, or of every tensor inside; `any_size` among its dims
  const Tensor* tensor = nullptr;  // null: its values are not known
};

// For operators on containers (form `container`): one answer an output. Throws what breaks a rule.
using InferValues = std::vector<ValueFacts> (*)(const Facts& facts,
                                                const std::vector<ValueFacts>& inputs);

InferValues find_infer_values(
    const Signature& signature);  // null: the registry's own rule says all

// What is true of a shape that is one of the two; none where not even the rank is.
inline std::optional<Shape> either_shape(const std::optional<Shape>& a,
                                         const std::optional<Shape>& b) {
  if (!a || !b || a->size() != b->size()) return std::nullopt;
  Shape both = *a;
  for (Index d = 0; d < both.size(); ++d) {
    if (both[d] != (*b)[d]) both[d] = any_size;
  }
  return both;
}

}  // namespace touchstone
