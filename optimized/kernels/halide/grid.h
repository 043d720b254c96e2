// Fused QuantizeLinear and DequantizeLinear: rounds to integer multiples of a step between two
// bounds. Performs the same operations as the operators that it replaces, in the same order.
#pragma once

#include "optimized/kernels/halide/elementwise.h"

namespace touchstone::optimized::generators {

struct RoundedToGrid : Elementwise<RoundedToGrid> {
  Input<Buffer<float, 4>> data{"data"};
  Input<float> step{"step"};
  Input<float> min{"min"};  // in steps
  Input<float> max{"max"};
  Input<float> of_nan{"of_nan"};
  Input<float> factor{"factor"};
  Output<Buffer<float, 4>> result{"result"};
  Halide::GeneratorParam<bool> divides{"divides", true};  // false: the data is in steps already

  void generate() {
    const Expr steps = prim::round_even(divides ? data(at) / step : data(at));
    const Expr raised = select(steps < min, min, steps);
    const Expr kept = select(max < raised, max, raised);
    result(at) = select(prim::is_nan(kept), of_nan, kept) * factor;
  }
  void schedule() { plan(result, {&data}); }
};

}  // namespace touchstone::optimized::generators
