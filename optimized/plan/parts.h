// The kernels that a region of pointwise nodes runs: one a node, or one for several nodes where
// there is a kernel for what they are together.
#pragma once

#include <optional>
#include <vector>

#include "optimized/plan/region.h"
#include "optimized/registry/registry.h"

namespace touchstone {

// The whole numbers from `least` to `most`, times a factor. The nearest is looked for of a
// quotient, or of the value itself.
struct RoundingGrid {
  std::optional<float> divisor;
  float least, most, factor = 1;
};

struct Part {
  Node node;  // what the kernel is asked of
  std::vector<Index> inputs;
  Index output;
  std::optional<RoundingGrid> grid;  // given: the node is the first of those that round to it
};
std::vector<Part> parts_of(const Outline& outline, const Region& region);

// The call that rounds to a grid what the first node of it reads, whose own call is given.
void round_to_grid(const RoundingGrid& grid, Isa isa, RecordedCall& call);

}  // namespace touchstone
