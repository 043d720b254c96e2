// Types, shapes and constants of values in the graph or function body under conversion, for the
// model before the step. Computed only on demand.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "reference/shapes/shapes.h"

namespace touchstone::transform {

// Inferred types and shapes by place (the path of a graph) and name. A function body has one place
// per call.
class Knowledge {
 public:
  Knowledge(const Model& model, const Limits& limits) : model_(model), limits_(limits) {}

  std::set<std::string> places_of(const std::vector<Node>& nodes);
  const InferredValue* find(const std::string& place, const std::string& name);

 private:
  void infer();

  const Model& model_;
  const Limits& limits_;
  bool asked_ = false;
  InferredShapes shapes_;
  std::unordered_map<const Node*, std::set<std::string>> places_;
  std::unordered_map<std::string, const InferredValue*> values_;  // by place and name
};

// A graph or a function body; a subgraph also sees the enclosing scope.
class Scope {
 public:
  Scope(const Graph& graph, const Scope* outer, Knowledge& knowledge);
  Scope(const Function& function, Knowledge& knowledge);

  const Graph* graph() const { return graph_; }  // null for a function

  // Returns the inferred value for each place of this graph or body. A query about a fact in which
  // they differ has no answer.
  std::vector<const InferredValue*> known(const std::string& name) const;
  // Returns the value if it is the same in every run, else null. Outputs of nodes with constant
  // inputs are computed.
  const Tensor* constant(const std::string& name) const;
  // Counts uses by nodes, by their subgraphs, and as outputs of the graph or function.
  bool is_used(const std::string& name) const;

 private:
  const Tensor* computed(const Node& node, const std::string& name) const;
  const std::set<std::string>& places() const;
  void index(const std::vector<Node>& nodes);

  const Scope* outer_ = nullptr;
  const Graph* graph_ = nullptr;
  const std::vector<Node>* nodes_;
  Knowledge& knowledge_;
  std::unordered_map<std::string, const Node*> makers_;
  std::set<std::string> inputs_;
  mutable std::optional<std::set<std::string>> used_;
  mutable std::optional<std::set<std::string>> places_;
  mutable std::map<std::string, std::optional<Tensor>> computed_;
  mutable int depth_ = 0;
};

}  // namespace touchstone::transform
