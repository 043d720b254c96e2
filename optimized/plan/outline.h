// What is known of a model's values before a run with feeds of given shapes: types, shapes, who
// makes and who reads each.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "reference/facts.h"

namespace touchstone {

inline constexpr Index nobody = -1;

struct ValueFact {
  std::string name;
  std::optional<ValueType> type;
  std::optional<Shape> shape;        // of a tensor, where every size is known
  const Tensor* constant = nullptr;  // an initializer's, not fed
  Index producer = nobody;           // a node
  std::vector<Index> users;          // nodes that name it, themselves or in a subgraph; each once
  bool output = false;

  bool is(Type element) const {
    return type && type->kind == ValueType::Kind::tensor && type->element == element;
  }
  // A float tensor of a known shape: what fast kernels take.
  bool floats() const { return is(Type::float32) && shape.has_value(); }
};

struct NodeFact {
  const Node* node;
  std::vector<Index> inputs, outputs;  // values; nobody where left out
  bool broken = false;                 // a rule does not hold: the reference refuses it, by name

  // Of a node of an operator: a call of a function has no signature.
  Facts attributes() const { return {*node, *node->signature, {}, {}}; }
};

class Outline {
 public:
  // The model must be resolved and valid and outlive the outline. `feeds` are the shapes of the
  // fed tensors; shapes are what they prove (reference/proved_shapes.h). No shape is said of the
  // values `unclaimed`, nor of any that hangs on them.
  Outline(const Model& model, const std::map<std::string, Shape>& feeds, const Limits& limits,
          const std::set<std::string>& unclaimed = {});

  const std::vector<NodeFact>& nodes() const { return nodes_; }
  const std::vector<ValueFact>& values() const { return values_; }
  const ValueFact& value(Index k) const { return values_[static_cast<std::size_t>(k)]; }
  const NodeFact& node(Index k) const { return nodes_[static_cast<std::size_t>(k)]; }
  // A value of the main graph; nobody if there is none.
  Index find(const std::string& name) const;

 private:
  Index value_of(const std::string& name);
  void forget_shapes(const std::set<std::string>& unclaimed);

  std::vector<NodeFact> nodes_;
  std::vector<ValueFact> values_;
  std::unordered_map<std::string, Index> by_name_;
};

}  // namespace touchstone
