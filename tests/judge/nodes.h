// Builds nodes and tensors for tests of the judge on generated kernels.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"
#include "model/schema.h"

namespace touchstone {

// A node with inputs i0, i1 ... and outputs o0, o1 ...
inline Node node_of(std::string op, Index opset, Index inputs, Index outputs,
                    std::map<std::string, Attribute> attributes = {}) {
  Node node;
  node.op = std::move(op);
  node.signature = find_signature("", node.op, opset);
  for (Index k = 0; k < inputs; ++k) node.inputs.push_back("i" + std::to_string(k));
  for (Index k = 0; k < outputs; ++k) node.outputs.push_back("o" + std::to_string(k));
  node.attributes = std::move(attributes);
  return node;
}
inline Node node_of(std::string op, Index opset, Index inputs,
                    std::map<std::string, Attribute> attributes = {}) {
  return node_of(std::move(op), opset, inputs, 1, std::move(attributes));
}

inline Tensor floats(Shape shape, const std::vector<float>& data) {
  Tensor t(Type::float32, std::move(shape));
  std::copy(data.begin(), data.end(), t.data<float>());
  return t;
}

}  // namespace touchstone
