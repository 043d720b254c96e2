// Preconditions of a plan's steps: the extents that they iterate over are those of their tensors.
#pragma once

#include "optimized/plan/groups.h"

namespace touchstone::optimized {

// Throws Error (internal), with the node's place, if a step built for the group would read or write
// outside of its tensors. Enabled in release builds too: a planner's fault must not corrupt memory.
void hold_preconditions(const AnalyzedGraph& graph, const Group& group);

}  // namespace touchstone::optimized
