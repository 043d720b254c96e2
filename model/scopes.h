// Which names a subgraph takes from around it, and walks over everything that a model holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// A graph in an attribute: "body", or "branches[1]" out of a list.
struct Subgraph {
  std::string name;
  std::shared_ptr<const Graph> graph;
};
std::vector<Subgraph> subgraphs_of(const Node& node);

// Names that `graph` uses and does not define, nested graphs included; each once, in the order of
// first use.
std::vector<std::string> captured_names(const Graph& graph);

// The inputs of a node that have names, and what its subgraphs capture.
std::vector<std::string> names_used(const Node& node);

// Deepest nesting of graphs: 1 for a graph without subgraphs.
int depth_of(const Graph& graph);

// A node's share of what walks over a model may cost: 1 for a node as most are, more for long lists
// of names or of numbers in attributes, and for what its graphs hold. Tensors are not counted.
Index weight_of(const Node& node);
constexpr Index entries_of_a_node = 16;

// Every node of a list and of the graphs inside it, without recursion. Function bodies are not
// entered.
void for_each_node(const std::vector<Node>& nodes, const std::function<void(const Node&)>& visit);

}  // namespace touchstone
