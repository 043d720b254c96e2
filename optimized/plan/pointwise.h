// A region of pointwise nodes brought to its kernels: which kernel runs for each node, on what.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "optimized/plan/region.h"
#include "optimized/registry/registry.h"

namespace touchstone {

// A tensor as the region's elements are walked: strides by its own dimensions, which are matched
// to the region's from the innermost on.
struct StridedTensor {
  Shape shape;
  const float* data = nullptr;
  Point strides;
};

class Pointwise {
 public:
  // `extents` are those of the walk (the region's shape, or one of blocks), `externals` the tensors
  // that the region's externals are in it, `output` where the last value stands. The innermost
  // dimensions from `movable` on may be merged; those before it stay as they are. None where the
  // walk has more than four dimensions left, or a kernel asks for more than the elements of its
  // inputs.
  static std::optional<Pointwise> make(const Outline& outline, const Region& region,
                                       const Shape& extents,
                                       const std::vector<StridedTensor>& externals,
                                       const StridedTensor& output, Index movable, Isa isa);

  struct Box {
    std::array<Index, 4> first{}, count{};  // outermost first
  };
  // All of the innermost dimensions, of these of the two before them. For a walk of four dimensions
  // made with `movable` 2.
  Box rows_of(Index first_block, Index blocks, Index first_row, Index rows) const;
  // Slices of at most about `elements` that together are the whole.
  std::vector<Box> slices(Index elements) const;
  // Floats of scratch that a box takes.
  Index scratch(const Box& box) const;
  // `shift`: added to the place of each external, then of the output: another image of the batch.
  void run(const Box& box, float* scratch, std::span<const Index> shift) const;

 private:
  struct Source {
    Index external = nobody;  // or
    Index slot = nobody;      // 0 the output, from 1 on scratch
    std::array<Index, 4> strides{};
  };
  struct Step {
    CompiledKernel kernel;
    CallValues values;
    std::vector<Source> inputs;
    Index slot;
  };

  std::array<Index, 4> extents_{1, 1, 1, 1};
  std::size_t lead_ = 0;            // of them before the walk's own
  std::vector<const float*> data_;  // of the externals
  float* output_ = nullptr;
  std::array<Index, 4> output_strides_{};
  std::vector<Step> steps_;
  Index slots_ = 0;  // of scratch
};

}  // namespace touchstone
