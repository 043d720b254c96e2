// Checks the rules of names, order and types in one graph or function body.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/check_node.h"
#include "model/graph.h"

namespace touchstone {

// Names defined so far with their types, as far as known. A subgraph also sees the names of the
// graphs around it; a function body does not.
struct Names {
  const Names* outer = nullptr;
  std::unordered_map<std::string, std::optional<ValueType>> defined;
  std::unordered_set<std::string> later;  // outputs of later nodes

  const std::optional<ValueType>* find(const std::string& name) const;
};

void check_graph(const Graph& graph, const Names* outer, const DeclaredAttributes* around,
                 const Model& model, const std::string& path, const Report& report);
void check_function(const Function& function, const Model& model, const Report& report);

// Returns the positions of nodes that form a cycle: each depends on the next, the last on the
// first. Empty if there is none.
std::vector<std::size_t> find_cycle(const std::vector<Node>& nodes);

}  // namespace touchstone
