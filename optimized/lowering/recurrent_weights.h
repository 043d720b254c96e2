// Packed weights of recurrent layers.
#pragma once

#include <optional>

#include "optimized/kernels/gemm.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/recurrent.h"

namespace touchstone::optimized {

// Extents of weights that belong together.
struct WeightExtents {
  Index inputs, hidden;
};

// Returns nullopt if the shapes do not belong together, or a matrix is empty. `biases`: null if
// the layer has none.
std::optional<WeightExtents> extents_of(const RecurrentLayer& layer, const Tensor& w,
                                        const Tensor& r, const Tensor* biases);

// Weights of all directions, packed for products. The candidate of a GRU has recurrent weights
// apart from the gates'.
class PackedWeights {
 public:
  PackedWeights(const RecurrentLayer& layer, Isa isa) : layer_(layer), gemm_(isa) {}

  // Columns of the first product with the state.
  Index gate_columns() const {
    return layer_.cell == RecurrentLayer::Cell::gru ? 2 * hidden_ : layer_.gates() * hidden_;
  }
  const float* input(Index d) const { return memory_.floats() + d * whole_; }
  const float* gates(Index d) const { return input(d) + input_size_; }
  const float* candidate(Index d) const { return gates(d) + gates_size_; }

  void pack(const WeightExtents& extents, const Tensor& w, const Tensor& r, const Tensor* biases);

 private:
  const RecurrentLayer& layer_;
  const Gemm gemm_;
  KeptMemory memory_;
  Index hidden_ = 0, input_size_ = 0, gates_size_ = 0, whole_ = 0;
};

}  // namespace touchstone::optimized
