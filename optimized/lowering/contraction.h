// Sum of products of two strided float32 operands over any dimensions: what matmuls of any rank,
// Gemm and Einsum compute. Maps it on matrix kernels.
#pragma once

#include <optional>

#include "core/budget.h"
#include "core/tensor.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/thin.h"
#include "optimized/plan/large.h"
#include "optimized/plan/shared_weights.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

// C[i] = sum over s of A[i, s] B[i, s]. C is dense; a stride is 0 where an operand lacks the
// dimension or repeats in it.
struct Contraction {
  Shape kept, summed;  // extents
  struct Strides {
    IndexVector kept, summed;
    bool operator==(const Strides&) const = default;
  };
  Strides a, b;
  bool operator==(const Contraction&) const = default;
};

class Contractor {
 public:
  Contractor();
  // Checks the budget but charges no work.
  void run(RunState& state, const Contraction& of, const float* a, const float* b, float* c);
  // Keeps the packed forms of operands that are constants, shared with other plans of the model;
  // null for one that is not.
  void keep_packed(const Tensor* a, const Tensor* b, SharedWeights& shared) {
    constants_[0] = a;
    constants_[1] = b;
    shared_ = &shared;
  }

 private:
  // The dimensions by the operands that have them, merged as far as the strides allow.
  struct Matrices {
    Shape batch, rows, columns, depth;
    IndexVector batch_a, batch_b, batch_c, rows_a, rows_c, columns_b, columns_c, depth_a, depth_b;
    Index batches = 1, m = 1, n = 1, k = 1;
    bool turned = false;  // A and B changed places
  };
  struct Operands {
    const float *a, *b;
    float* c;
  };
  // Operands of one product as its kernel reads them.
  struct Prepared {
    const float *a = nullptr, *b = nullptr;
    float* c = nullptr;
    Index a_row = 0, a_depth = 0, c_row = 0;
  };
  struct Work;
  // Checks the budget once per `most` products. Charges none of them.
  struct WorkWatch {
    static constexpr Index most = Index{1} << 16;
    Index left = most;
    void step(Index products) {
      if ((left -= products) >= 0) return;
      check_budget();
      left = most;
    }
  };

  static Matrices matrices_of(const Contraction& of, bool turned);
  // Returns the matrices of the last call again if its contraction is equal.
  const Matrices& matrices_of(const Contraction& of);
  static Operands at(const Matrices& x, const Operands& on, Index batch);
  static GemmOperand operand(const Matrices& x, const float* b, bool copied);
  static GemmProblem problem(const Matrices& x, const Prepared& on, const float* packed);
  static Prepared prepared(const Matrices& x, const Operands& on, const Work& work, float* scratch);
  static void finish(const Matrices& x, const Operands& on, const Work& work, const float* scratch);
  static void loop(const Contraction& of, const float* a, const float* b, float* c);
  void in_place(const Matrices& x, const Prepared& on, const Work& work, Index first,
                Index columns) const;
  void alone(const Matrices& x, const Operands& on, const Work& work, float* scratch,
             const float* packed) const;
  void together(RunState& state, const Matrices& x, const Operands& on, const Work& work,
                float* scratch, const float* packed) const;
  void run_matrices(RunState& state, const Matrices& x, const Operands& on);
  const float* packed_of(const Matrices& x, const Operands& on);
  LargeMemory pack(const Matrices& x, const Operands& on, const Work& work);
  float* scratch_of(Index floats);

  const Gemm gemm_;
  const ThinKernel thin_;
  const DotsKernel dots_;
  Tensor scratch_;
  Contraction last_;
  std::optional<Matrices> matrices_;  // of last_
  const Tensor* constants_[2] = {nullptr, nullptr};
  SharedWeights* shared_ = nullptr;
  std::shared_ptr<const LargeMemory> packed_;
  Shape packed_for_;
};

}  // namespace touchstone::optimized
