// Passes written as functions, for changes that no pattern can express. Each returns the number of
// its changes.
#pragma once

#include "transform/optimize/mutable_graph.h"

namespace touchstone::transform {

Index freeze_defaults(MutableGraph& bench);
Index inline_functions(MutableGraph& bench);
Index choose_branches(MutableGraph& bench);
Index fold_constants(MutableGraph& bench);
Index fold_weights(MutableGraph& bench);
Index share_constants(MutableGraph& bench);
Index share_nodes(MutableGraph& bench);
Index drop_dead(MutableGraph& bench);

// True if two runs of the node on equal inputs may differ.
bool draws(const Node& node);

}  // namespace touchstone::transform
