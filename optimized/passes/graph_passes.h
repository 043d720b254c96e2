// Passes written as functions, for changes that no pattern can express. Each returns the number of
// its changes.
#pragma once

#include "optimized/passes/workbench.h"

namespace touchstone {

Index freeze_defaults(Workbench& bench);
Index inline_functions(Workbench& bench);
Index fold_constants(Workbench& bench);
Index fold_weights(Workbench& bench);
Index share_constants(Workbench& bench);
Index share_nodes(Workbench& bench);
Index drop_dead(Workbench& bench);

// True if two runs of the node on equal inputs may differ.
bool draws(const Node& node);

}  // namespace touchstone
