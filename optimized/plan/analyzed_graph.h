// Facts about a model's values before a run with feeds of given shapes: types, shapes, producers
// and users.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "optimized/plan/shared_weights.h"
#include "reference/facts.h"
#include "reference/shapes/proved_shapes.h"

namespace touchstone::optimized {

struct PlanOptions;

inline constexpr Index no_value = -1;

struct AnalyzedValue {
  std::string name;
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // of a tensor, if every size is known
  // an initializer that is not fed, or a result that the fed shapes determine
  const Tensor* constant = nullptr;
  Index producer = no_value;  // a node
  std::vector<Index> users;   // nodes that read it, directly or in a subgraph; each once
  bool output = false;

  bool is(Type element) const {
    return type && type->kind == ValueType::Kind::tensor && type->element == element;
  }
  // True for a float32 tensor of known shape, as fast kernels require.
  bool floats() const { return is(Type::float32) && shape.has_value(); }
  // True for a tensor of known shape whose elements take whole bytes: it can be in a plan's memory.
  bool placeable() const {
    return shape && type && type->kind == ValueType::Kind::tensor &&
           type->element != Type::undefined && type->element != Type::string &&
           facts(type->element).bits % 8 == 0;
  }
};

struct AnalyzedNode {
  const Node* node;
  std::vector<Index> inputs, outputs;  // values; no_value if omitted
  // violates a rule: the reference refuses it with the rule's id
  bool broken = false;
  bool folded = false;  // its outputs are constants: it is not run

  // Only for operator nodes: a call of a function has no signature.
  Facts attributes() const { return {*node, *node->signature, {}, {}}; }
};

class AnalyzedGraph {
 public:
  // The model must be resolved and valid and outlive the graph. `feeds` are the shapes of the fed
  // tensors; other shapes are proved from them (reference/shapes/proved_shapes.h), by the prover of
  // `options` if it is not null. The values `options.unclaimed`, and their dependents, get none.
  AnalyzedGraph(const Model& model, const std::map<std::string, Shape>& feeds,
                const PlanOptions& options);

  const Model& model() const { return model_; }
  const std::vector<AnalyzedNode>& nodes() const { return nodes_; }
  const std::vector<AnalyzedValue>& values() const { return values_; }
  const AnalyzedValue& value(Index k) const { return values_[static_cast<std::size_t>(k)]; }
  const AnalyzedNode& node(Index k) const { return nodes_[static_cast<std::size_t>(k)]; }
  // Returns a value of the main graph; no_value if there is none.
  Index find(const std::string& name) const;
  // Packed forms of the model's constants.
  SharedWeights& weights() const { return *weights_; }

  // False if convolutions sum their products one by one.
  bool winograd() const { return winograd_; }

 private:
  Index value_of(const std::string& name);
  void forget_shapes(const std::set<std::string>& unclaimed);
  // folded.cc
  void fold(const Limits& limits);
  std::vector<std::shared_ptr<const Tensor>> results(const AnalyzedNode& fact) const;
  std::vector<AnalyzedValue*> reads(const AnalyzedNode& fact);

  const Model& model_;
  const std::shared_ptr<SharedWeights> weights_;
  const bool winograd_;
  std::vector<AnalyzedNode> nodes_;
  std::vector<AnalyzedValue> values_;
  std::unordered_map<std::string, Index> by_name_;
  std::vector<std::shared_ptr<const Tensor>> folded_;
};

}  // namespace touchstone::optimized
