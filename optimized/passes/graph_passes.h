// The passes that are functions: what no pattern can say. Each returns how often it changed
// something.
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

// May two runs of the node on equal inputs differ?
bool draws(const Node& node);

}  // namespace touchstone
