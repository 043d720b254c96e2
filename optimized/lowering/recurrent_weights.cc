// Checks the shapes of a recurrent layer's weights, and packs them.
#include "optimized/lowering/recurrent_weights.h"

#include "core/checked.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

Index rounded_up(Index floats) { return multiply(ceil_div(floats, 16), 16); }

}  // namespace

std::optional<WeightExtents> extents_of(const RecurrentLayer& layer, const Tensor& w,
                                        const Tensor& r, const Tensor* biases) {
  if (w.shape().size() != 3 || r.shape().size() != 3) return std::nullopt;
  const WeightExtents found{w.shape()[2], r.shape()[2]};
  const Index rows = multiply(layer.gates(), found.hidden);
  if (w.shape() != Shape{layer.directions, rows, found.inputs}) return std::nullopt;
  if (r.shape() != Shape{layer.directions, rows, found.hidden}) return std::nullopt;
  if (biases != nullptr && biases->shape() != Shape{layer.directions, multiply(2, rows)})
    return std::nullopt;
  if (found.inputs == 0 || found.hidden == 0) return std::nullopt;
  return found;
}

void PackedWeights::pack(const WeightExtents& extents, const Tensor& w, const Tensor& r,
                         const Tensor* biases) {
  const auto& [inputs, hidden] = extents;
  hidden_ = hidden;
  const Index rows = layer_.gates() * hidden;
  const bool apart = layer_.cell == RecurrentLayer::Cell::gru;
  input_size_ = rounded_up(gemm_.packed_size(inputs, rows));
  gates_size_ = rounded_up(gemm_.packed_size(hidden, gate_columns()));
  whole_ = input_size_ + gates_size_ + (apart ? rounded_up(gemm_.packed_size(hidden, hidden)) : 0);
  float* const memory = memory_.at<float>(multiply(layer_.directions, whole_) + rows);
  float* const sums = memory + layer_.directions * whole_;
  for (Index d = 0; d < layer_.directions; ++d) {
    const float* const of_w = w.data<float>() + d * rows * inputs;
    const float* const of_r = r.data<float>() + d * rows * hidden;
    const float* const bias = biases ? biases->data<float>() + d * 2 * rows : nullptr;
    // The recurrent bias of a candidate that is reset after the product stays with that product.
    const Index together = apart && layer_.linear ? 2 * hidden : rows;
    for (Index k = 0; bias != nullptr && k < rows; ++k)
      sums[k] = k < together ? bias[k] + bias[rows + k] : bias[k];
    float* const at = memory + d * whole_;
    gemm_.pack({of_w, 1, inputs, inputs, rows}, bias ? sums : nullptr, at, 0, gemm_.panels(rows));
    gemm_.pack({of_r, 1, hidden, hidden, gate_columns()}, nullptr, at + input_size_, 0,
               gemm_.panels(gate_columns()));
    if (!apart) continue;
    gemm_.pack({of_r + 2 * hidden * hidden, 1, hidden, hidden, hidden},
               bias && layer_.linear ? bias + rows + 2 * hidden : nullptr,
               at + input_size_ + gates_size_, 0, gemm_.panels(hidden));
  }
}

}  // namespace touchstone::optimized
