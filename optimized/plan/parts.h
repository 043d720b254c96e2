// Kernels of a pointwise region: one per node, or one for several nodes that match a fused kernel.
#pragma once

#include <optional>
#include <vector>

#include "optimized/plan/region.h"
#include "optimized/registry/registry.h"

namespace touchstone {

// Rounds to integers from `least` to `most`, times a factor. The rounded number is the value, or
// its quotient by `divisor`.
struct RoundingGrid {
  std::optional<float> divisor;
  float min, max, factor = 1;
};

struct Part {
  Node node;  // the node whose kernel is recorded
  std::vector<Index> inputs;
  Index output;
  std::optional<RoundingGrid> grid;  // set: the node is the first of a fused rounding
};
std::vector<Part> parts_of(const AnalyzedGraph& graph, const Region& region);

// Replaces the recorded call of the first node by the call of the fused rounding kernel.
void round_to_grid(const RoundingGrid& grid, Isa isa, RecordedCall& call);

}  // namespace touchstone
