// Evaluation of single nodes by the fast kernels, for the passes that fold constants.
#pragma once

#include "optimized/threads/pool.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

// Returns an evaluator that plans and runs a node as a model of its own. `pool` must outlive it.
transform::PassOptions::Evaluator fast_evaluator(const transform::PassOptions& passes, bool fuse,
                                                 ThreadPool& pool);

}  // namespace touchstone::optimized
