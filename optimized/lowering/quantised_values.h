// Facts about quantized values of a graph that is being lowered.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "transform/optimize/mutable_graph.h"

namespace touchstone::optimized {

// 8-bit integers that stand for (integer - zero) * scale.
struct QuantisedValue {
  std::string integers, scale, zero;  // values; `zero` is "" if it is omitted
  Type type;
  float step;      // the scale
  int zero_point;  // 0 if it is omitted

  // True if the same integers stand for the same numbers.
  bool same_grid(const QuantisedValue& other) const {
    return type == other.type && step == other.step && zero_point == other.zero_point;
  }
  int least() const { return type == Type::uint8 ? 0 : -128; }
  int greatest() const { return type == Type::uint8 ? 255 : 127; }
};

// Constant 8-bit weights with one scale, or one for each index along an axis.
struct QuantisedWeights {
  std::string integers, scale, zero;
  const Tensor *values, *scales, *zeros;  // `zeros` null: omitted
  float step(Index k) const { return scales->data<float>()[scales->size() == 1 ? 0 : k]; }
};

// Reads quantized values. Takes scales that are constant, positive and far from overflow.
class QuantisedValues {
 public:
  explicit QuantisedValues(transform::MutableGraph& graph) : graph_(graph) {}

  // Returns the operator's node that computes a value, if it is one of the standard's.
  std::optional<transform::MutableGraph::Place> maker(const std::string& value,
                                                      std::string_view op);
  // The integers that a node dequantizes to this value.
  std::optional<QuantisedValue> dequantised(const std::string& value);
  // Returns the result of a QuantizeLinear; `integers` is its output.
  std::optional<QuantisedValue> quantised(const Node& node);
  // The constant that a node dequantizes to this value, with scales along `axis`.
  std::optional<QuantisedWeights> weights(const std::string& value, Index axis);
  // The numbers of a bias: constant floats, or constant integers that are dequantized.
  std::optional<std::vector<double>> bias(const std::string& value, Index filters);
  // True for a constant bias that Gemm and Add broadcast alike, over any number of rows.
  bool is_of_columns(const std::string& value, Index columns);
  void note_type(const std::string& value, Type type) { types_[value] = type; }

 private:
  std::optional<QuantisedValue> grid(const Node& node, const std::string& integers, Type type);
  Type element(const std::string& value);

  transform::MutableGraph& graph_;
  std::unordered_map<std::string, Type> types_;  // of new values
};

// Returns `alpha` of a node that keeps numbers above it and makes zeros of all others, NaN too.
std::optional<float> threshold_of(const Node& node);

// True for operators of the standard's own domain.
inline bool is_standard(const Node& node, std::string_view op) {
  return node.signature != nullptr && node.signature->domain.empty() && node.signature->op == op;
}

}  // namespace touchstone::optimized
