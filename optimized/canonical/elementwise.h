// Elementwise operators of any rank as problems of four dimensions.
#pragma once

#include <functional>
#include <vector>

#include "optimized/canonical/operand.h"
#include "optimized/canonical/problem.h"

namespace touchstone {

// Hands over the problems (one, but where more than four dimensions are left after collapsing or 32
// bits do not reach) that together fill `output`, which is dense and of the shape `extents`. Throws
// Error (unsupported) for a dimension past 2^31.
void elementwise_problems(const Shape& extents, const std::vector<Operand>& inputs, float* output,
                          const std::function<void(const Problem<4>&)>& solve);

}  // namespace touchstone
