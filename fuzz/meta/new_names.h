// Names that no part of a model has yet.
#pragma once

#include <set>
#include <string>

#include "model/scopes.h"

namespace touchstone::fuzz {

class NewNames {
 public:
  explicit NewNames(const Graph& graph) { note(graph); }

  std::string make(const std::string& base) {
    std::string name = base;
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

 private:
  void note(const Graph& graph) {
    for (const ValueInfo& input : graph.inputs) taken_.insert(input.name);
    for (const auto& [name, tensor] : graph.initializers) taken_.insert(name);
    for (const auto& [name, sparse] : graph.sparse_initializers) taken_.insert(name);
    for (const Node& node : graph.nodes) {
      taken_.insert(node.inputs.begin(), node.inputs.end());
      taken_.insert(node.outputs.begin(), node.outputs.end());
      for (const Subgraph& inner : subgraphs_of(node)) note(*inner.graph);
    }
  }

  std::set<std::string> taken_;
};

}  // namespace touchstone::fuzz
