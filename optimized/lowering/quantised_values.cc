// Reads the scales and zero points of quantized values.
#include "optimized/lowering/quantised_values.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/convert.h"
#include "reference/facts.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

bool is_byte(Type type) { return type == Type::uint8 || type == Type::int8; }

// Products and quotients of such scales are normal numbers.
bool is_plain(float scale) { return scale > 1e-12F && scale < 1e12F; }

const std::string& input(const Node& node, std::size_t k) {
  static const std::string none;
  return k < node.inputs.size() ? node.inputs[k] : none;
}

}  // namespace

std::optional<transform::MutableGraph::Place> QuantisedValues::maker(const std::string& value,
                                                                     std::string_view op) {
  const std::optional<transform::MutableGraph::Place> made = graph_.maker(value);
  return made && is_standard(**made, op) ? made : std::nullopt;
}

Type QuantisedValues::element(const std::string& value) {
  if (const Tensor* const constant = graph_.constant(value)) return constant->type();
  if (const auto found = types_.find(value); found != types_.end()) return found->second;
  const transform::KnownValue* const known = graph_.known(value);
  if (known == nullptr || !known->type || known->type->kind != ValueType::Kind::tensor)
    return Type::undefined;
  return known->type->element;
}

std::optional<QuantisedValue> QuantisedValues::grid(const Node& node, const std::string& integers,
                                                    Type type) {
  const Tensor* const scale = graph_.constant(input(node, 1));
  if (!is_byte(type) || scale == nullptr || scale->type() != Type::float32 || scale->size() != 1 ||
      scale->shape().size() > 1 || !is_plain(*scale->data<float>()) ||
      Facts{node, *node.signature, {}, {}}.integer("block_size") != 0)
    return std::nullopt;
  QuantisedValue found{integers, input(node, 1), input(node, 2), type, *scale->data<float>(), 0};
  if (!found.zero.empty()) {
    const Tensor* const zero = graph_.constant(found.zero);
    if (zero == nullptr || zero->type() != type || zero->size() != 1) return std::nullopt;
    found.zero_point = static_cast<int>(number_at(*zero, 0));
  }
  return found;
}

std::optional<QuantisedValue> QuantisedValues::dequantised(const std::string& value) {
  const auto made = maker(value, "DequantizeLinear");
  if (!made) return std::nullopt;
  return grid(**made, (*made)->inputs[0], element((*made)->inputs[0]));
}

std::optional<QuantisedValue> QuantisedValues::quantised(const Node& node) {
  const Index precision = Facts{node, *node.signature, {}, {}}.integer("precision");
  if (precision != 0 && precision != static_cast<Index>(Type::float32)) return std::nullopt;
  if (element(node.inputs[0]) != Type::float32) return std::nullopt;
  return grid(node, node.outputs[0], element(node.outputs[0]));
}

std::optional<QuantisedWeights> QuantisedValues::weights(const std::string& value, Index axis) {
  const auto made = maker(value, "DequantizeLinear");
  if (!made) return std::nullopt;
  const Node& node = **made;
  QuantisedWeights found{node.inputs[0],
                         input(node, 1),
                         input(node, 2),
                         graph_.constant(node.inputs[0]),
                         graph_.constant(input(node, 1)),
                         graph_.constant(input(node, 2))};
  if (found.values == nullptr || found.scales == nullptr || !is_byte(found.values->type()) ||
      found.scales->type() != Type::float32 || found.scales->shape().size() > 1)
    return std::nullopt;
  if (!found.zero.empty() &&
      (found.zeros == nullptr || found.zeros->type() != found.values->type() ||
       found.zeros->size() != found.scales->size()))
    return std::nullopt;
  const Index rank = found.values->shape().size();
  const Facts facts{node, *node.signature, {}, {}};
  if (rank == 0 || facts.integer("block_size") != 0) return std::nullopt;
  if (found.scales->size() != 1) {
    if (wrap(facts.integer("axis", 1), rank) != axis ||
        found.scales->size() != found.values->shape()[axis])
      return std::nullopt;
  }
  const float* const scales = found.scales->data<float>();
  if (!std::all_of(scales, scales + found.scales->size(), is_plain)) return std::nullopt;
  return found;
}

std::optional<std::vector<double>> QuantisedValues::bias(const std::string& value, Index filters) {
  const Tensor* integers = graph_.constant(value);
  const Tensor *scale = nullptr, *zero = nullptr;
  if (integers == nullptr) {
    const auto from = maker(value, "DequantizeLinear");
    if (!from) return std::nullopt;
    const std::vector<std::string>& inputs = (*from)->inputs;
    integers = graph_.constant(inputs[0]);
    scale = graph_.constant(inputs[1]);
    const bool has_zero = inputs.size() > 2 && !inputs[2].empty();
    if (has_zero) zero = graph_.constant(inputs[2]);
    if (integers == nullptr || scale == nullptr || (has_zero && zero == nullptr) ||
        integers->type() != Type::int32 || scale->type() != Type::float32 ||
        scale->shape().size() > 1 || (scale->size() != 1 && scale->size() != filters) ||
        (zero != nullptr && zero->size() != scale->size()))
      return std::nullopt;
  } else if (integers->type() != Type::float32) {
    return std::nullopt;
  }
  if (integers->shape() != Shape{filters}) return std::nullopt;
  std::vector<double> made;
  for (Index k = 0; k < filters; ++k) {
    auto each = static_cast<double>(number_at(*integers, k));
    if (zero != nullptr) each -= static_cast<double>(number_at(*zero, zero->size() == 1 ? 0 : k));
    if (scale != nullptr)
      each *= static_cast<double>(scale->data<float>()[scale->size() == 1 ? 0 : k]);
    made.push_back(each);
  }
  return made;
}

bool QuantisedValues::is_of_columns(const std::string& value, Index columns) {
  const Tensor* bias = graph_.constant(value);
  if (bias == nullptr) {
    const auto made = maker(value, "DequantizeLinear");
    bias = made ? graph_.constant((*made)->inputs[0]) : nullptr;
  }
  if (bias == nullptr) return false;
  const Shape& shape = bias->shape();
  return shape.size() <= 2 && (bias->size() == 1 || bias->size() == columns) &&
         (bias->size() == 1 || shape.back() == columns);
}

std::optional<float> threshold_of(const Node& node) {
  if (!is_standard(node, "ThresholdedRelu")) return std::nullopt;
  const auto given = node.attributes.find("alpha");
  return given == node.attributes.end() ? 1 : std::get<float>(given->second.is);
}

}  // namespace touchstone::optimized
