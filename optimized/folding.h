// Evaluation of single nodes of constants by the fast kernels, for passes and plans that fold them.
#pragma once

#include "optimized/threads/pool.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

// Plans and runs a node as a model of its own, and returns its outputs. `of`: the node's model.
// `limits`: of the session. `fuse`: fuses nodes of a function. Raises the Errors of a run.
std::vector<Value> evaluate_fast(const Node& node, const std::vector<Value>& inputs,
                                 const Model& of, const Limits& limits, bool fuse,
                                 ThreadPool& pool);

// Returns evaluate_fast for passes. `pool` must outlive it.
transform::PassOptions::Evaluator fast_evaluator(const transform::PassOptions& passes, bool fuse,
                                                 ThreadPool& pool);

}  // namespace touchstone::optimized
