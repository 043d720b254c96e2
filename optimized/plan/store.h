// Values that steps make without the plan's types: by reference kernels, bodies, and lists.
#pragma once

#include "optimized/plan/step.h"

namespace touchstone::optimized {

// Stores value `at` of the graph for later steps, which trust the type that the plan states. Throws
// Error (internal) if `made` has another: inference is at fault, not the model.
void store(RunState& state, const AnalyzedGraph& graph, Index at, Value made);

}  // namespace touchstone::optimized
