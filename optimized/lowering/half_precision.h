// Lowering of float16 and bfloat16: nodes compute in float32, between casts.
#pragma once

#include <optional>

#include "model/graph.h"
#include "optimized/plan/analyzed_graph.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

// Replaces the 16-bit floats that nodes of the main graph read by float32 values of the same
// numbers. A pair of casts rounds each result to the node's type. So an output has the bits that
// the definition gives for float32 inputs, rounded once. Nodes whose meaning depends on the type
// itself stay. The model must be resolved and valid.
Model lower_half_precision(Model model, const transform::PassOptions& options);

// A cast of a float32 value to 16 bits whose only user casts back.
struct HalfRounding {
  Type type;     // float16 or bfloat16
  Index second;  // the node that casts back
  Index output;  // its value
};
std::optional<HalfRounding> half_rounding(const AnalyzedGraph& graph, Index node);

}  // namespace touchstone::optimized
