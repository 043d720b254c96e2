// Collapses the dimensions, then loops over those that a kernel does not take.
#include "optimized/problems/elementwise.h"

#include "core/error.h"
#include "optimized/problems/collapse.h"

namespace touchstone::optimized {

namespace {

// Returns the number of innermost dimensions that one kernel call can take: at most four, within
// the reach of 32 bits.
Index dims_within(const Collapsed& walk) {
  Index taken = 0;
  std::vector<Index> reach(walk.strides.size(), 0);
  for (Index k = walk.extents.size() - 1; k >= 0 && taken < 4; --k, ++taken) {
    for (std::size_t o = 0; o < reach.size(); ++o) {
      reach[o] += std::abs(walk.strides[o][k]) * (walk.extents[k] - 1);
      if (reach[o] > farthest) return taken;
    }
  }
  return taken;
}

}  // namespace

void elementwise_problems(const Shape& extents, const std::vector<Operand>& inputs, float* output,
                          const std::function<void(const Problem<4>&)>& solve) {
  if (count(extents) == 0) return;
  std::vector<IndexVector> strides;
  for (const Operand& input : inputs) strides.push_back(input.strides);
  strides.push_back(dense_strides(extents));
  const Collapsed walk = collapse(extents, strides);
  const Index taken = dims_within(walk);
  if (taken == 0 && !walk.extents.empty()) {
    throw Error(ErrorKind::unsupported, "a dimension of " + std::to_string(walk.extents.back()) +
                                            " elements is too long for the fast kernels");
  }
  Problem<4> problem;
  problem.extents.fill(1);
  problem.inputs.resize(inputs.size());
  problem.output_strides[0] = 1;
  for (Index k = 0; k < taken; ++k) {
    const Index from = walk.extents.size() - 1 - k;
    const auto to = static_cast<std::size_t>(k);
    problem.extents[to] = walk.extents[from];
    for (std::size_t o = 0; o < inputs.size(); ++o)
      problem.inputs[o].strides[to] = walk.strides[o][from];
    problem.output_strides[to] = walk.strides.back()[from];
  }
  each_outer(walk, walk.extents.size() - taken, [&](const std::vector<Index>& offsets) {
    for (std::size_t o = 0; o < inputs.size(); ++o)
      problem.inputs[o].data = inputs[o].data + offsets[o];
    problem.output = output + offsets.back();
    solve(problem);
  });
}

}  // namespace touchstone::optimized
