// Names that a subgraph captures from enclosing graphs, and traversals over everything that a model
// holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// A graph-valued attribute: "body", or "branches[1]" for a list element.
struct Subgraph {
  std::string name;
  std::shared_ptr<const Graph> graph;
};
std::vector<Subgraph> subgraphs_of(const Node& node);

// Returns the names that `graph` uses and does not define, nested graphs included; each once, in
// order of first use.
std::vector<std::string> captured_names(const Graph& graph);

// Returns a node's non-empty inputs and the names that its subgraphs capture.
std::vector<std::string> names_used(const Node& node);

// Returns the deepest nesting of graphs: 1 for a graph without subgraphs.
int depth_of(const Graph& graph);

// Cost of a node in passes over a model, in typical nodes. Above 1 for long lists of names or of
// numbers in attributes, and for the contents of its graphs. Tensors are not counted.
Index weight_of(const Node& node);
constexpr Index entries_of_a_node = 16;

// Visits every node of a list and of the graphs inside it, without recursion. Function bodies are
// not visited.
void for_each_node(const std::vector<Node>& nodes, const std::function<void(const Node&)>& visit);

}  // namespace touchstone
