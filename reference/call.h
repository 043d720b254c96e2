// One evaluation of one node: the interface between the interpreter and kernels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

// Runs a subgraph of the node in the node's scope: takes the subgraph's inputs, returns its
// outputs.
using RunGraph = std::function<std::vector<Value>(const Graph& graph, std::vector<Value> inputs)>;

// Inputs, outputs and context of one evaluation.
struct Call {
  const Node* node = nullptr;  // for attributes, and names in errors
  const Signature* signature = nullptr;
  std::vector<Value> inputs;   // absent if omitted; as many as the node names
  std::vector<Value> outputs;  // as many as the node names; the kernel fills the wanted ones
  std::vector<bool> wanted;    // false if the node leaves the output's name empty
  RunGraph run_graph;
};

using Kernel = void (*)(Call&);

}  // namespace touchstone
