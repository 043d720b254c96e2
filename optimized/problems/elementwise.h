// Splits an elementwise operation of any rank into kernel calls of four dimensions.
#pragma once

#include <functional>
#include <vector>

#include "optimized/problems/operand.h"
#include "optimized/problems/problem.h"

namespace touchstone::optimized {

// Calls `solve` for the problems that together fill `output`, which is dense and has the shape
// `extents`. One problem suffices unless more than four dimensions remain after collapsing or
// 32-bit offsets do not reach. Throws Error (unsupported) for a dimension past 2^31.
void elementwise_problems(const Shape& extents, const std::vector<Operand>& inputs, float* output,
                          const std::function<void(const Problem<4>&)>& solve);

}  // namespace touchstone::optimized
