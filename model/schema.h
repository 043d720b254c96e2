// Operator signatures: inputs, outputs, attributes and types of every version of every operator.
// The table is generated from spec/.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/shape.h"

namespace touchstone {

// An input or output of an operator.
struct ParameterSpec {
  std::string_view name;
  std::string_view type;  // name of a constraint ("T"), or a value type ("tensor(int64)")
  bool optional = false, variadic = false, homogeneous = true;
  int least = 1;  // minimum number of variadic arguments
};

struct AttributeSpec {
  std::string_view name;
  std::string_view kind;  // int, float, string, tensor, graph, sparse_tensor, type, or a plural
  bool required = false;
  std::string_view default_json;  // "" if there is none
};

// A type constraint and its admitted types.
struct ConstraintSpec {
  std::string_view name;
  std::span<const std::string_view> types;  // value types: "tensor(float)"
};

// One version of one operator.
struct Signature {
  std::string_view domain;  // "" for ai.onnx
  std::string_view op;
  int since;
  bool deprecated;
  // A node names either its required outputs alone or every output.
  bool all_outputs = false;
  // Operator family: elementwise, reduce ...; "" if there are no semantics yet.
  std::string_view form;
  std::string_view kind;    // semantics, function, structural, random, none
  std::string_view doc;     // one sentence
  std::string_view source;  // "spec/ops/ai.onnx/Clip.yaml:12"
  std::span<const ParameterSpec> inputs, outputs;
  std::span<const AttributeSpec> attributes;
  std::span<const ConstraintSpec> types;
};

std::span<const Signature> all_signatures();  // sorted by domain, operator, since

// Returns the version in force at an opset: the newest with since <= opset. Null if the operator is
// not in that opset.
const Signature* find_signature(std::string_view domain, std::string_view op, Index opset);
bool knows_operator(std::string_view domain, std::string_view op);  // in any version
Index newest_opset(std::string_view domain);  // 0 for a domain without operators

}  // namespace touchstone
