// What is known of values while a graph or a function's body is converted: types, shapes and
// constants, of the model as it stood before the step. Asked only where a step needs it.
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
#include "reference/shapes.h"

namespace touchstone::conversion {

// Types and shapes by place and name. A function's body has a place for each call.
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

// A graph, or a function's body; a subgraph sees the scope around it.
class Scope {
 public:
  Scope(const Graph& graph, const Scope* outer, Knowledge& knowledge);
  Scope(const Function& function, Knowledge& knowledge);

  const Graph* graph() const { return graph_; }  // null: a function

  // One value each place that the name has here; they agree in what is asked of them, or that is
  // not known.
  std::vector<const InferredValue*> known(const std::string& name) const;
  // Null: it may differ from run to run. What nodes make of constants is computed.
  const Tensor* constant(const std::string& name) const;
  // By nodes, their subgraphs, and the outputs of the graph or function.
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

}  // namespace touchstone::conversion
