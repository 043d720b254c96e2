// Builds a Call from a node and its inputs, and the Facts that handwritten kernels read.
#pragma once

#include <utility>

#include "reference/call.h"
#include "reference/facts.h"

namespace touchstone {

inline std::vector<bool> wanted_of(const Node& node) {
  std::vector<bool> wanted;
  for (const std::string& name : node.outputs) wanted.push_back(!name.empty());
  return wanted;
}

// `inputs` has one value per input that the node names, absent if omitted.
inline Call call_of(const Node& node, std::vector<Value> inputs) {
  Call call;
  call.node = &node;
  call.signature = node.signature;
  call.inputs = std::move(inputs);
  call.outputs.resize(node.outputs.size());
  call.wanted = wanted_of(node);
  return call;
}

// Facts of a Call or a ExtendedCall, which must outlive them.
template <class C>
Facts facts_of(const C& call) {
  return Facts(*call.node, *call.signature, describe(*call.signature, call.inputs), call.wanted);
}

}  // namespace touchstone
