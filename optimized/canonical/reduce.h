// Reductions of any rank and any axes as [outer, reduced, inner].
#pragma once

#include <functional>
#include <vector>

#include "optimized/canonical/operand.h"
#include "optimized/canonical/problem.h"

namespace touchstone {

// extents: inner, reduced, outer. `by_rows`: inner is 1. The output's stride along `reduced` is 0.
struct ReduceProblem : Problem<3> {
  bool by_rows = false;
};

// The operands' dimensions are those of the output (`kept`, dense) followed by the `reduced` ones.
// What is reduced and does not lie evenly is copied once into an order that does. Throws Error
// (unsupported) where 32 bits do not reach.
void reduce_problems(const Shape& kept, const Shape& reduced, std::vector<Operand> inputs,
                     float* output, const std::function<void(const ReduceProblem&)>& solve);

}  // namespace touchstone
