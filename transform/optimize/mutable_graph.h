// Main graph of a model while passes change it: makers and uses of values, constants, and known
// types and shapes. Values captured by subgraphs count as used and are never renamed.
#pragma once

#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/budget.h"
#include "model/graph.h"
#include "transform/optimize/known.h"
#include "transform/optimize/passes.h"

namespace touchstone::transform {

class MutableGraph {
 public:
  using Place = std::list<Node>::iterator;

  MutableGraph(Model model, const PassOptions& options);
  // Returns the changed model with its nodes numbered. The mutable_graph must not be used
  // afterwards.
  Model finish();

  const PassOptions& options() const { return options_; }
  const Model& model() const { return model_; }
  Index opset(const std::string& domain) const;  // 0 if it is not imported

  std::list<Node>& nodes() { return nodes_; }
  std::optional<Place> maker(const std::string& value);
  const Tensor* constant(const std::string& value) const;  // null: it may differ from run to run
  Index uses(const std::string& value) const;              // by nodes, subgraphs and graph outputs
  bool is_output(const std::string& value) const { return outputs_.contains(value); }
  bool is_input(const std::string& value) const { return inputs_.contains(value); }
  bool is_captured(const std::string& value) const;

  // Returns null for a value added since shapes were last inferred.
  const KnownValue* known(const std::string& value);
  // Records assumptions, derived from known(), that a change relied on.
  void assume(const std::vector<ShapeAssumption>& assumptions);
  // Returns all recorded assumptions. The mutable_graph must not be used afterwards.
  std::vector<Assumed> assumed();
  // Repeats shape inference on the next query, if values were added since the last.
  void forget_shapes() { asked_ = asked_ && !grown_; }

  Index folding_work = 0;  // elementary operations spent on folding

  std::string fresh(const std::string& stem);
  void add_constant(const std::string& value, Tensor tensor);
  void drop_constant(const std::string& value);
  // Resolves the node's signature and inserts it before `place`.
  Place insert(Place place, Node node);
  Place erase(Place place);
  // Redirects all uses of `from` to `to`, whose value is equal. Returns false without changes if
  // that is impossible: graph outputs keep their names and subgraphs the values that they capture.
  bool replace_value(const std::string& from, const std::string& to);
  // Redirects the uses of `from` by nodes of this graph to `to`, whose value is equal.
  void move_uses(const std::string& from, const std::string& to);
  // Makes constants of these inputs, which have defaults.
  void freeze(const std::unordered_set<std::string>& values);
  // Removes all other functions and returns their number.
  Index keep_functions(const std::set<const Function*>& called);
  // Remaining bytes of the budget for weights computed from smaller constants.
  Index bytes_left() const;
  bool reserve_bytes(Index bytes);  // false if less is left
  void raise_ir(Index least) { model_.ir_version = std::max(model_.ir_version, least); }

 private:
  struct Maker {
    Place place;
    std::size_t output;
  };
  struct Use {
    Node* node;
    std::size_t input;
    bool operator==(const Use&) const = default;
  };
  struct HashUse {
    std::size_t operator()(const Use& use) const {
      return std::hash<Node*>()(use.node) + use.input * 0x9e3779b97f4a7c15;
    }
  };
  using Uses = std::unordered_set<Use, HashUse>;

  void add_maker(Place place);
  void add_uses(Place place);
  void drop_uses(Place place);
  void count_captures(const Node& node, Index by);
  void drop_use(const std::string& value, const Use& use);
  void infer();

  PassOptions options_;
  Charge charge_;  // charges the memory of the members below, by the number of nodes
  Model model_;
  std::list<Node> nodes_;
  std::unordered_map<std::string, Maker> maker_;
  std::unordered_map<std::string, Uses> uses_;  // by nodes
  std::unordered_map<std::string, Index> captures_;
  std::unordered_set<std::string> inputs_, outputs_, taken_;
  std::unordered_map<std::string, Index> next_;  // next number to try, by the stem of fresh names
  std::unordered_map<std::string, KnownValue> known_;
  bool asked_ = false, grown_ = true;
  std::optional<Assumed> asked_of_;  // the graph that known_ describes
  std::vector<Assumed> assumed_;
  Index reserved_bytes_ = 0;
};

}  // namespace touchstone::transform
