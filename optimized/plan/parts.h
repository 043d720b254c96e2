// Kernels of a pointwise region: one per node, or one for several nodes that match a fused kernel.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "optimized/plan/region.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {

// Rounds to integers from `least` to `most`, times a factor. The rounded number is the value, or
// its quotient by `divisor`.
struct RoundingGrid {
  std::optional<float> divisor;
  float min, max, factor = 1;
  float of_nan = std::numeric_limits<float>::quiet_NaN();  // in steps
};

struct Part {
  Node node;  // the node whose kernel is recorded
  std::vector<Index> inputs;
  Index output;
  std::optional<RoundingGrid> grid;  // set: the node is the first of a fused rounding
  Type half = Type::undefined;       // else: the part rounds to this type of 16 bits
};
std::vector<Part> parts_of(const AnalyzedGraph& graph, const Region& region);

// Replaces the recorded call of a part's node by the call of its rounding kernel, if it has one.
void use_rounding_kernel(const Part& part, Isa isa, RecordedCall& call);

}  // namespace touchstone::optimized
