// Helpers that write the small models of these tests.
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/model.h"

namespace touchstone::testing {

inline Node node(std::string op, std::vector<std::string> inputs, std::string output) {
  Node made;
  made.op = std::move(op);
  made.name = "make_" + output;
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

// Returns a model x -> ... -> y of floats; nodes are numbered and resolved.
inline Model chain(std::vector<Node> nodes) {
  Model model;
  model.ir_version = 10;
  model.opsets = {{"", 21}};
  const ValueType floats = tensor_type(Type::float32);
  model.graph.name = "chain";
  model.graph.inputs = {{"x", floats, std::vector<Dim>{{std::nullopt, "n"}}}};
  model.graph.outputs = {{"y", floats, {}}};
  for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k].index = static_cast<Index>(k);
  model.graph.nodes = std::move(nodes);
  resolve(model);
  return model;
}

inline Tensor floats(const std::vector<float>& values) {
  Tensor made(Type::float32, {static_cast<Index>(values.size())});
  for (std::size_t k = 0; k < values.size(); ++k) made.data<float>()[k] = values[k];
  return made;
}

}  // namespace touchstone::testing
