// Shapes that the operators' definitions prove for given feeds: what an executor may rely on.
//
// Nothing is believed that a file declares of computed values, and no size is drawn: what hangs on
// values that come at run time is unknown.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

struct ProvedValue {
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // of a tensor
};

struct ProvedShapes {
  std::unordered_map<std::string, ProvedValue> values;  // by name, of the main graph
  std::set<Index> broken;      // nodes of the main graph, by index, on which a rule does not hold
  bool breaks_surely = false;  // a rule breaks on a node that every run reaches
};

// `feeds` are the shapes of the fed tensors, by input. Of a resolved model in which check() found
// nothing.
ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits);

}  // namespace touchstone
