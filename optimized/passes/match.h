// Finds patterns in a graph. A match is found from its last node backwards through what makes each
// input.
#pragma once

#include <vector>

#include "core/shape.h"
#include "optimized/passes/found.h"
#include "optimized/passes/pattern.h"
#include "optimized/passes/workbench.h"

namespace touchstone {

// The match whose root is the node, conditions held; none otherwise.
std::optional<Found> find_match(const Pattern& pattern, Workbench& bench, Workbench::Place root);

// Every node of the graph is tried as root, first to last. Returns how often the pattern was
// replaced.
Index apply_pattern(const Pattern& pattern, Workbench& bench);

}  // namespace touchstone
