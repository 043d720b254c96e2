// Shape inference: the shapes of all values of a model as size expressions of its symbols, and
// contradictions.
//
// The definitions' index programs say the shapes over symbols; passes at other sizes refute what
// had to be guessed (docs/decisions/024).
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
  // "3", "2*N + 1", "floor((N - 1)/2)", "min(3, N)", "floor((N * 1.5))" for a size computed in
  // floats, "?1" for an unnamed size, "?" for an unknown one.
  std::string text;
  // True if it may be another one where the symbols that notes take as one size, as a sum or as 1
  // are not. True, too, if other sizes of symbols change it: those that decide a comparison on
  // which it rests otherwise.
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
