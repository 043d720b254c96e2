// What the steps of a plan take for granted of sizes: the extents that they walk over are those of
// the tensors that they are given.
#pragma once

#include "optimized/plan/groups.h"

namespace touchstone {

// Throws Error (internal), with the node's place, where a step built for the group would read or
// write outside of its tensors. It stays in release builds: memory must not hang on a planner's
// mistake.
void hold_preconditions(const Outline& outline, const Group& group);

}  // namespace touchstone
