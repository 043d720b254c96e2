// Shapes that the operators' definitions guarantee for given feeds, for executors to rely on.
//
// Declarations of computed values are ignored and no size is drawn at random: sizes that depend on
// run-time values are unknown.
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
  std::optional<Shape> shape;  // for a tensor
};

struct ProvedShapes {
  std::unordered_map<std::string, ProvedValue> values;  // by name, of the main graph
  // Conditions of nodes of the main graph that run one of two graphs, by name.
  std::map<std::string, bool> conditions;
  std::set<Index> violations;  // nodes of the main graph, by index, with a constraint violation
  bool breaks_surely = false;  // a rule is violated on a node that every run reaches
};

// `feeds` holds the shapes of the fed tensors by input. The model must be resolved and pass
// check().
ProvedShapes prove_shapes(const Model& model, const std::map<std::string, Shape>& feeds,
                          const Limits& limits);

}  // namespace touchstone
