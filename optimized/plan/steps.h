// What the files of steps share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "optimized/kernels/gemm.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/pointwise.h"

namespace touchstone {

// Zeros around the images, before something that reads them runs.
void clear_halo(const Blocks& blocks, float* memory);

// All rows of a product whose right matrix is packed, by all threads.
void run_product(ThreadPool& pool, const Gemm& gemm, const Product& product, Index rows);

// A region on blocks: one image at a time, whole or a box of it.
class BlockedRegion {
 public:
  BlockedRegion(const Outline& outline, const Region& region, const Blocks& output);

  // Whether the region can be computed on blocks.
  static bool takes(const Outline& outline, const Region& region, Index lanes);

  void ask(Builder& builder);  // for its inputs
  void set_output(const Blocks& output) { output_ = output; }
  // `movable`: as Pointwise::make. `output`: the memory of its blocks.
  bool bind(const Memory& memory, float* output, Index movable);
  const Pointwise& kernels() const { return *kernels_; }
  void run(const Pointwise::Box& box, Index image, float* scratch) const;

 private:
  static bool fits(const Outline& outline, const Region& region);
  StridedTensor constant(const Tensor& tensor);

  const Outline& outline_;
  const Region region_;
  Blocks output_;
  std::vector<Blocked> externals_;
  std::vector<std::vector<float>> constants_;
  std::vector<Index> shift_;
  std::optional<Pointwise> kernels_;
};

}  // namespace touchstone
