// Splits reductions of any rank over any axes into kernel calls of three dimensions: [outer,
// reduced, inner].
#pragma once

#include <functional>
#include <vector>

#include "optimized/problems/operand.h"
#include "optimized/problems/problem.h"

namespace touchstone::optimized {

// `extents`: inner, reduced, outer. `by_rows`: inner is 1. The output's stride along `reduced` is
// 0.
struct ReduceProblem : Problem<3> {
  bool by_rows = false;
};

// Calls `solve` for the problems that together fill `output`. The operands' dimensions are those of
// the output (`kept`, dense) followed by the `reduced` ones. If the reduced dimensions do not
// collapse into one, copies the inputs into an order in which they do. Throws Error (unsupported)
// if 32-bit offsets do not reach.
void reduce_problems(const Shape& kept, const Shape& reduced, std::vector<Operand> inputs,
                     float* output, const std::function<void(const ReduceProblem&)>& solve);

}  // namespace touchstone::optimized
