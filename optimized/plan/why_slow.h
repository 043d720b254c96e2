// Reason why a node has no tuned kernel.
#pragma once

#include <string>

#include "optimized/plan/analyzed_graph.h"

namespace touchstone::optimized {

// Changes one fact of the node at a time (an element type, an attribute, an optional argument, an
// unknown size) and plans the changed node. Returns the first change that leads to a tuned kernel,
// as text. Without one, returns the operator and the types of the node.
std::string why_slow(const AnalyzedGraph& graph, Index node, const Limits& limits);

}  // namespace touchstone::optimized
