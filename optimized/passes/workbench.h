// A main graph while passes change it: who makes a value, who uses it, what is constant, and which
// types and shapes are known. What subgraphs capture counts as used and is never renamed.
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
#include "optimized/passes/known.h"
#include "optimized/passes/passes.h"

namespace touchstone {

class Workbench {
 public:
  using Place = std::list<Node>::iterator;

  Workbench(Model model, const PassOptions& options);
  // The model with what was changed, its nodes numbered. The bench is done with.
  Model finish();

  const PassOptions& options() const { return options_; }
  const Model& model() const { return model_; }
  Index opset(const std::string& domain) const;  // 0 where it is not imported

  std::list<Node>& nodes() { return nodes_; }
  std::optional<Place> maker(const std::string& value);
  const Tensor* constant(const std::string& value) const;  // null: it may differ from run to run
  Index uses(const std::string& value) const;              // by nodes, subgraphs and graph outputs
  bool is_output(const std::string& value) const { return outputs_.contains(value); }
  bool is_input(const std::string& value) const { return inputs_.contains(value); }
  bool is_captured(const std::string& value) const;

  // Null for a value that came up since the shapes were last asked.
  const KnownValue* known(const std::string& value);
  // A change relied on these, which known() said.
  void assume(const std::vector<ShapeAssumption>& assumptions);
  // All that was assumed. The bench is done with.
  std::vector<Assumed> assumed();
  // Shapes are asked for again when next wanted, if values have come up since.
  void forget_shapes() { asked_ = asked_ && !grown_; }

  Index folding_work = 0;  // steps that constants took to compute

  std::string fresh(const std::string& stem);
  void add_constant(const std::string& value, Tensor tensor);
  void drop_constant(const std::string& value);
  // Binds the node to its signature; it stands before `place`.
  Place insert(Place place, Node node);
  Place erase(Place place);
  // Who uses `from` uses `to`, which is always equal. False, and nothing changes, where that can
  // not be: a graph output keeps its name and subgraphs keep what they capture.
  bool replace_value(const std::string& from, const std::string& to);
  // Inputs that the graph gives a default become constants.
  void freeze(const std::unordered_set<std::string>& values);
  // Returns how many others there were.
  Index keep_functions(const std::set<const Function*>& called);
  // Of what weights that are computed of smaller constants may take, all together.
  Index room() const;
  bool take_room(Index bytes);  // false where there is not as much
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
  Charge charge_;  // of what stands below, by the number of nodes
  Model model_;
  std::list<Node> nodes_;
  std::unordered_map<std::string, Maker> maker_;
  std::unordered_map<std::string, Uses> uses_;  // by nodes
  std::unordered_map<std::string, Index> captures_;
  std::unordered_set<std::string> inputs_, outputs_, taken_;
  std::unordered_map<std::string, Index> next_;  // number to try next, by the stem of fresh names
  std::unordered_map<std::string, KnownValue> known_;
  bool asked_ = false, grown_ = true;
  std::optional<Assumed> asked_of_;  // the graph that known_ speaks of
  std::vector<Assumed> assumed_;
  Index taken_room_ = 0;
};

}  // namespace touchstone
