// Lowering of quantized models: nodes between DequantizeLinear and QuantizeLinear compute on 8-bit
// integers.
#pragma once

#include "model/graph.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

// True if this processor multiplies 8-bit integers faster than float32: with sums of four products,
// or by SSE4.1 alone. AVX2 multiplies both as fast, and filters channels faster in float32.
bool integers_are_faster();

// True if the main graph quantizes or dequantizes values.
bool has_quantised(const Model& model);

// Rewrites convolutions, matmuls and selections of dequantized 8-bit values in the main graph to
// the operators on these integers. The integers of a sum of products are exact; its scales are
// multiplied in float32. The model must be resolved and valid.
Model lower_quantised(Model model, const transform::PassOptions& options);

}  // namespace touchstone::optimized
