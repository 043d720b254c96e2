// A model in memory: what a file says, with tensors decoded and external data read, before anything
// is resolved or run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/budget.h"
#include "core/tensor.h"
#include "model/schema.h"

namespace touchstone {

struct Graph;

// Documentation of a part of a model: no rule reads it, passes keep it and a saved file has it.
struct Metadata {
  std::string doc_string;
  std::vector<std::pair<std::string, std::string>> properties;  // metadata_props, as in the file
};
using SharedMetadata = std::shared_ptr<const Metadata>;  // null where the file holds none

// A dimension is a number, a symbol, or unknown (neither).
struct Dim {
  std::optional<Index> size;
  std::string symbol;
  std::string denotation = {};  // "DATA_BATCH", say
};

struct ValueInfo {
  std::string name;
  std::optional<ValueType> type;
  std::optional<std::vector<Dim>> shape;  // of a tensor, when the file says it
  std::string denotation = {};            // of the type: "IMAGE", say
  SharedMetadata metadata = {};
};

struct Attribute {
  // One alternative a kind of AttributeProto. ValueType stands for a TypeProto.
  using Held =
      std::variant<float, Index, std::string, Tensor, std::shared_ptr<const Graph>, SparseTensor,
                   ValueType, std::vector<float>, std::vector<Index>, std::vector<std::string>,
                   std::vector<Tensor>, std::vector<std::shared_ptr<const Graph>>,
                   std::vector<SparseTensor>, std::vector<ValueType>>;
  Held is;
  std::string reference;  // inside a function: the name of the function's attribute that stands
                          // here ("" otherwise)
  SharedMetadata metadata = {};
};

struct Function;

struct Node {
  std::string name, domain, op,
      overload;  // domain "" is ai.onnx, as in files; "ai.onnx" is stored as ""
  std::vector<std::string> inputs, outputs;  // "" where left out
  std::map<std::string, Attribute> attributes;
  Index index = 0;  // position in its graph, as in the file
  SharedMetadata metadata;

  // Filled in by resolve(): exactly one of the two, by the opset that the model (or function)
  // imports.
  const Signature* signature = nullptr;
  std::shared_ptr<const Function> function;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // in the file's order, which the checker holds to be topological
  std::vector<ValueInfo> inputs, outputs, values;
  std::map<std::string, Tensor> initializers;
  std::map<std::string, SparseTensor> sparse_initializers;
  SharedMetadata metadata;
  std::map<std::string, SharedMetadata> initializer_metadata;  // sparse ones too; few have any
};

struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // required
  std::map<std::string, Attribute> default_attributes;
  std::vector<Node> nodes;
  std::vector<ValueInfo> values;
  std::map<std::string, Index> opsets;
  SharedMetadata metadata;
  std::shared_ptr<const Charge> charge;  // of nodes that are in no file; null for a file's own
};

struct Model {
  Index ir_version = 0;
  std::map<std::string, Index> opsets;  // domain -> version
  std::string producer, producer_version, domain;
  std::optional<Index> model_version;
  SharedMetadata metadata;
  std::set<std::string> unkept;  // fields that the file holds and a Model does not
  Graph graph;
  std::vector<std::shared_ptr<Function>> functions;
  std::shared_ptr<const Charge> charge;  // of a file's graphs, for as long as they are kept
};

}  // namespace touchstone
