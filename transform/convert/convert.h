// Converts a model to other opset versions: node by node, one opset at a time, so that every
// intermediate model is valid and means the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone::transform {

// Number of nodes converted from one version of their operator to the adjacent one; `to` is 0 if
// there is none.
struct ConvertedNodes {
  std::string domain, op;
  Index from = 0, to = 0;
  bool rewritten = false;  // replaced by other nodes
  Index nodes = 0;
};

struct Converted {
  Model model;
  std::vector<ConvertedNodes> steps;  // in the order of first occurrence
};

// Takes a resolved and valid model. Returns one that imports each named domain ("" for ai.onnx) in
// the given version. Throws Error: usage for a domain that the model does not import or an unknown
// version; unsupported if a node cannot be expressed in the other version. The latter names the
// node, the versions and the obstacle.
Converted convert(Model model, const std::map<std::string, Index>& opsets, const Limits& limits);

}  // namespace touchstone::transform
