// Constant matrix of a matmul, packed for Gemm. It takes the place of the model's tensor where
// nothing else reads that one: weights are in memory once.
#pragma once

#include <memory>

#include "core/budget.h"
#include "core/tensor.h"
#include "optimized/kernels/gemm.h"
#include "optimized/plan/shared_weights.h"

namespace touchstone::optimized {

class PackedMatrix {
 public:
  // Rank 2, float32, with or without a bias of `columns` numbers (null: none). `across`: the tensor
  // is [columns, depth] instead of [depth, columns].
  struct Source {
    const Tensor& matrix;
    bool across;
    const float* bias;
  };

  // Called by `make` of SharedWeights::get. Throws Error (out_of_memory, limit).
  PackedMatrix(const Gemm& gemm, const Source& source, SharedWeights& weights);

  const float* get() const { return static_cast<const float*>(memory_->first.get()); }

 private:
  struct Memory {
    std::shared_ptr<void> first;
    Charge padding = {};  // bytes beyond those that the tensor's elements are charged for
  };
  std::shared_ptr<Memory> memory_;  // shared with what restores the tensor
};

}  // namespace touchstone::optimized
