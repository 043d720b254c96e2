// Messages of a session about its plans: which nodes have no fast kernel, and which runs fell back.
#pragma once

#include "optimized/plan/plan.h"

namespace touchstone::optimized {

// Info: a message for each node that the plan gives to a kernel that is not tuned, and why.
void log_slow_nodes(const Plan& plan);
// Info: a message for each node that the last run gave to the reference, though it has a kernel.
void log_fallbacks(const Plan& plan);

}  // namespace touchstone::optimized
