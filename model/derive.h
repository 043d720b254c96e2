// Automatic differentiation: replaces each node of the operator family `derivative` (Gradient) by a
// call of a function generated for it.
#pragma once

#include <string_view>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Generates for each such node of the main graph the function that computes it: a copy of the nodes
// from xs and zs to y, then the derivative of each, from y backwards. Needs a model that is
// resolved and checked.
//
// Throws Error if y depends on any other value; unsupported if no entry defines an operator's
// derivative; limit if the generated nodes exceed limits.nodes, or nested derivatives
// limits.graph_depth.
void derive(Graph& graph, const Limits& limits);

// Serialized ModelProto of the derivative functions in the entries. Generated.
std::string_view derivative_bytes();

}  // namespace touchstone
