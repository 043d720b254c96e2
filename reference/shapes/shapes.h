// Shape inference: the shapes of all values of a model as size expressions of its symbols, and
// contradictions.
//
// Shapes come from passes with numbers substituted for symbols (docs/decisions/003): a size
// expression is one that agrees with all passes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// One dimension: its number if it is constant, and its text.
struct InferredSize {
  std::optional<Index> number;
  // "3", "2*N + 1", "?1" for an unnamed size, "?" for an unknown one.
  std::string text;
  // True if it may be another one where the symbols that notes take as one size, as a sum or as 1
  // are not. True, too, if small or large symbols change it: of N elements, Slice takes [1:3].
  bool assumed = false;
};

struct InferredValue {
  std::string path;  // "" for the main graph, "If_0/then_branch", "Mine_3" for a call of a function
  std::string name;
  const Node* node = nullptr;  // null for inputs
  std::optional<ValueType> type;
  // Nothing if the rank is not known, or it is not a tensor.
  std::optional<std::vector<InferredSize>> shape;
  // True if even the rank may be another one there.
  bool rank_assumed = false;
};

struct InferredShapes {
  std::vector<InferredValue> values;  // in the order of computation
  std::vector<std::string> notes;     // assumptions about symbols, and unsatisfiable constraints
  // Errors at any sizes: rules of operators, declarations.
  std::vector<Error> breaches;
};

// The model must be resolved and pass check().
InferredShapes infer_shapes(const Model& model, const Limits& limits);

}  // namespace touchstone
