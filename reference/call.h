// One evaluation of one node, as the interpreter hands it to a kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

// Runs a subgraph of the node in the scope where the node stands: values for the subgraph's inputs
// in, its outputs back.
using RunGraph = std::function<std::vector<Value>(const Graph& graph, std::vector<Value> inputs)>;

struct Call {
  const Node* node = nullptr;  // its attributes, names for errors
  const Signature* signature = nullptr;
  std::vector<Value> inputs;   // absent where left out; as many as the node names
  std::vector<Value> outputs;  // as many as the node names; the kernel fills the wanted ones
  std::vector<bool> wanted;    // false where the node leaves the output's name empty
  RunGraph run_graph;
};

using Kernel = void (*)(Call&);

}  // namespace touchstone
