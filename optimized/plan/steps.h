// Helpers common to the steps_*.cc files.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "optimized/kernels/gemm.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/pointwise.h"

namespace touchstone::optimized {

// Clears the halos around the images; must run before a step that reads them.
void clear_halo(const Blocks& blocks, float* memory);

// Computes all rows of a product whose right matrix is packed, with all threads.
void run_matmul(ThreadPool& pool, const Gemm& gemm, const GemmProblem& product, Index rows);

// Pointwise region on channel blocks: runs on one image at a time, whole or a box of it.
class BlockedRegion {
 public:
  BlockedRegion(const AnalyzedGraph& graph, const Region& region, const Blocks& output);

  // True if the region can be computed on blocks.
  static bool takes(const AnalyzedGraph& graph, const Region& region, Index lanes);

  void prefetch(Builder& builder);  // requests its inputs
  void set_output(const Blocks& output) { output_ = output; }
  // `movable`: see Pointwise::make. `output`: the memory of the output's blocks.
  bool bind(const Memory& memory, float* output, Index movable);
  const Pointwise& kernels() const { return *kernels_; }
  void run(const Pointwise::Box& box, Index image, float* scratch) const;

 private:
  static bool fits(const AnalyzedGraph& graph, const Region& region);
  StridedTensor constant(const Tensor& tensor);

  const AnalyzedGraph& graph_;
  const Region region_;
  Blocks output_;
  std::vector<Blocked> externals_;
  std::vector<std::vector<float>> constants_;
  std::vector<Index> shift_;
  std::optional<Pointwise> kernels_;
};

}  // namespace touchstone::optimized
