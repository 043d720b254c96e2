// Conversion: the same model for another opset. Node by node, one opset at a time, so that what
// stands between two steps is always a model that means the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// So many nodes went from one version of their operator to its neighbour; to 0 where there is none.
struct ConvertedNodes {
  std::string domain, op;
  Index from = 0, to = 0;
  bool rewritten = false;  // other nodes stand in their place
  Index nodes = 0;
};

struct Converted {
  Model model;
  std::vector<ConvertedNodes> steps;  // in the order in which they were first met
};

// A resolved and valid model goes in, and one that imports each named domain ("" for ai.onnx) in
// the given version comes out. Throws Error: usage for a domain that the model does not import or a
// version that nobody knows; unsupported, naming node, versions and what is missed, where the other
// version has no such meaning.
Converted convert(Model model, const std::map<std::string, Index>& opsets, const Limits& limits);

}  // namespace touchstone
