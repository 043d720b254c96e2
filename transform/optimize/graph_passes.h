// Passes written as functions, for changes that no pattern can express. Each returns the number of
// its changes.
#pragma once

#include "transform/optimize/mutable_graph.h"

namespace touchstone::transform {

Index freeze_defaults(MutableGraph& graph);
Index inline_functions(MutableGraph& graph);
Index choose_branches(MutableGraph& graph);
Index fold_constants(MutableGraph& graph);
Index fold_weights(MutableGraph& graph);
Index share_constants(MutableGraph& graph);
Index share_nodes(MutableGraph& graph);
Index drop_dead(MutableGraph& graph);

// True if two runs of the node on equal inputs may differ.
bool draws(const Node& node);

}  // namespace touchstone::transform
