// Facts known before a model runs of values that need not be tensors. Sequences and optionals have
// no shape, but the tensors inside them may have a common one.
#pragma once

#include <optional>
#include <vector>

#include "model/schema.h"
#include "reference/facts.h"

namespace touchstone {

// A size that is unknown, or differs between the tensors of a sequence.
constexpr Index any_size = -1;

// Facts of one value.
struct ValueFacts {
  std::optional<ValueType> type;
  std::optional<Shape>
      shape;  // a tensor's, or that of every tensor inside; `any_size` among its dims
  const Tensor* tensor = nullptr;  // null: its values are not known
};

// Inference for operators on containers (operator family `container`): one result per output.
// Throws on a constraint violation.
using InferValues = std::vector<ValueFacts> (*)(const Facts& facts,
                                                const std::vector<ValueFacts>& inputs);

// Null: the registry's rule suffices.
InferValues find_infer_values(const Signature& signature);

// Common facts of a shape that is one of the two; nothing if not even the rank is common.
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
