// Pointwise region lowered to kernel calls: the kernel of each node, its operands and its scratch.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "optimized/plan/region.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {

// Tensor with strides for its own dimensions, which are aligned to the region's from the innermost
// on.
struct StridedTensor {
  Shape shape;
  const float* data = nullptr;
  IndexVector strides;
};

class Pointwise {
 public:
  // `extents` are those of the iteration space: the region's shape, or one of blocks. `externals`
  // are the region's external tensors in it, `output` is the memory of the last value. The
  // innermost dimensions from `movable` on may be merged; those before it are kept. Returns nullopt
  // if more than four dimensions remain, or if a kernel needs more than the elements of its inputs.
  static std::optional<Pointwise> make(const AnalyzedGraph& graph, const Region& region,
                                       const Shape& extents,
                                       const std::vector<StridedTensor>& externals,
                                       const StridedTensor& output, Index movable, Isa isa);

  struct Box {
    std::array<Index, 4> first{}, count{};  // outermost first
  };
  // Returns these blocks and rows, with all innermost elements. Only for an iteration space of four
  // dimensions made with `movable` 2.
  Box rows_of(Index first_block, Index blocks, Index first_row, Index rows) const;
  // Splits the whole into slices of at most about `elements` elements.
  std::vector<Box> slices(Index elements) const;
  // Returns the floats of scratch that a box needs.
  Index scratch(const Box& box) const;
  // `shift`: offsets added to each external, then to the output, to select another image of the
  // batch.
  void run(const Box& box, float* scratch, std::span<const Index> shift) const;

 private:
  struct Source {
    Index external = no_value;  // or
    Index slot = no_value;      // 0 the output, from 1 on scratch
    std::array<Index, 4> strides{};
  };
  struct Step {
    backends::CompiledKernel kernel;
    CallValues values;
    std::vector<Source> inputs;
    Index slot;
  };

  std::array<Index, 4> extents_{1, 1, 1, 1};
  std::size_t lead_ = 0;            // number of leading dimensions added to reach four
  std::vector<const float*> data_;  // of the externals
  float* output_ = nullptr;
  std::array<Index, 4> output_strides_{};
  std::vector<Step> steps_;
  Index slots_ = 0;  // of scratch
};

}  // namespace touchstone::optimized
