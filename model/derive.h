// Derivatives that a model asks for: a node of the form derivative becomes a call of a function
// made for it.
#pragma once

#include <string_view>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Gives each such node of the main graph the function that computes what it means: the nodes that
// make y of xs and zs, then the derivative of each, from y back. Needs a model that is resolved and
// checked. Throws Error for a value that depends on something else, and, as unsupported, for an
// operator whose derivative no entry says.
// Throws Error (limit) where the nodes that it makes pass limits.nodes, or derivatives of
// derivatives limits.graph_depth.
void derive(Graph& graph, const Limits& limits);

// The functions that entries say, as the bytes of a model. Generated.
std::string_view derivative_bytes();

}  // namespace touchstone
