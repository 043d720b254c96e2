// In-memory model: the contents of a file with tensors decoded and external data read, before nodes
// are resolved or run.
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

// Documentation of a part of a model. No rule reads it; passes preserve it and saving writes it.
struct Metadata {
  std::string doc_string;
  std::vector<std::pair<std::string, std::string>> properties;  // metadata_props, in file order
};
using SharedMetadata = std::shared_ptr<const Metadata>;  // null if the file holds none

// A dimension is a number, a symbol, or unknown (neither).
struct Dim {
  std::optional<Index> size;
  std::string symbol;
  std::string denotation = {};  // "DATA_BATCH", for example
};

// Declaration of a graph's input, output or intermediate value.
struct ValueInfo {
  std::string name;
  std::optional<ValueType> type;
  std::optional<std::vector<Dim>> shape;  // present if the file gives a tensor's shape
  std::string denotation = {};            // the type's: "IMAGE", for example
  SharedMetadata metadata = {};
};

struct Attribute {
  // One alternative per kind of AttributeProto. ValueType stands for a TypeProto.
  using Payload =
      std::variant<float, Index, std::string, Tensor, std::shared_ptr<const Graph>, SparseTensor,
                   ValueType, std::vector<float>, std::vector<Index>, std::vector<std::string>,
                   std::vector<Tensor>, std::vector<std::shared_ptr<const Graph>>,
                   std::vector<SparseTensor>, std::vector<ValueType>>;
  Payload is;
  // Inside a function body: name of the function's attribute to substitute, "" otherwise.
  std::string reference;
  SharedMetadata metadata = {};
};

struct Function;

struct Node {
  std::string name, domain, op,
      overload;                              // the domain ai.onnx is stored as ""
  std::vector<std::string> inputs, outputs;  // "" if omitted
  std::map<std::string, Attribute> attributes;
  Index index = 0;  // position in the graph, in file order
  SharedMetadata metadata;

  // Set by resolve(), exactly one of the two, by the opset that the model (or function) imports.
  const Signature* signature = nullptr;
  std::shared_ptr<const Function> function;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // in file order, which the checker requires to be topological
  std::vector<ValueInfo> inputs, outputs, values;
  std::map<std::string, Tensor> initializers;
  std::map<std::string, SparseTensor> sparse_initializers;
  SharedMetadata metadata;
  std::map<std::string, SharedMetadata> initializer_metadata;  // sparse ones too; few have any
};

// A model-local function. Its attribute references are substituted at each call.
struct Function {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // required
  std::map<std::string, Attribute> default_attributes;
  std::vector<Node> nodes;
  std::vector<ValueInfo> values;
  std::map<std::string, Index> opsets;
  SharedMetadata metadata;
  std::shared_ptr<const Charge> charge;  // memory of generated nodes; null for functions of a file
};

struct Model {
  Index ir_version = 0;
  std::map<std::string, Index> opsets;  // domain -> version
  std::string producer, producer_version, domain;
  std::optional<Index> model_version;
  SharedMetadata metadata;
  std::set<std::string> unkept;  // fields that the file holds and a Model cannot
  Graph graph;
  std::vector<std::shared_ptr<Function>> functions;
  std::shared_ptr<const Charge> charge;  // memory of the file's graphs
};

}  // namespace touchstone
