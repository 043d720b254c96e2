// The shapes of all values of a model, with the model's symbols in them, and what cannot be.
//
// They are found by walks with numbers in the place of symbols (docs/decisions/003): a form is what
// all walks agree on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

struct InferredSize {
  std::optional<Index> number;
  std::string
      text;  // "3", "2*N + 1", "?1" for a size that nothing names, "?" for one that is not known
};

struct InferredValue {
  std::string path;  // "" for the main graph, "If_0/then_branch", "Mine_3" for a call of a function
  std::string name;
  const Node* node = nullptr;  // null for inputs
  std::optional<ValueType> type;
  std::optional<std::vector<InferredSize>>
      shape;  // none where the rank is not known, or it is no tensor
};

struct InferredShapes {
  std::vector<InferredValue> values;  // in the order in which the model makes them
  std::vector<std::string> notes;     // what was assumed of symbols, and what no sizes could mend
  std::vector<Error>
      breaches;  // what is wrong whatever the sizes: rules of operators, declarations
};

// Of a resolved model in which check() found nothing.
InferredShapes infer_shapes(const Model& model, const Limits& limits);

}  // namespace touchstone
