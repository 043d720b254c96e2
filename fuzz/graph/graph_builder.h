// A graph under construction. Each node that joins it has run on the reference with every set of
// feeds, so the graph is valid at any time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone::fuzz {

// A value of the graph, with its content in every run.
struct KnownValue {
  std::string name;
  std::vector<Value> at;  // by run
  std::string made_by;    // the operator; "" for inputs and initializers
  bool constant = false;  // an initializer
  bool ill = false;       // holds elements that are not finite, or too large to go on with
  bool large = false;     // holds elements far from normal, or ill ones
  Index uses = 0;

  bool is_tensor() const { return at.front().is_tensor(); }
  Type element() const;  // undefined unless it is a tensor
  // A tensor's extents by run.
  std::vector<Index> extents(Index axis) const;
  Index rank() const { return at.front().tensor().shape().size(); }
  bool same_rank_in_all_runs() const;
  bool same_shapes(const KnownValue& other) const;
};

using ValueId = std::size_t;

class GraphBuilder {
 public:
  GraphBuilder(std::size_t runs, std::map<std::string, Index> opsets);

  std::size_t runs() const { return runs_; }
  const Signature* signature(std::string_view domain, std::string_view op) const;

  // Values that a new node may read: a function's body sees its own alone.
  ValueId first_visible() const { return frames_.back().is_function ? frames_.back().values : 0; }
  std::size_t value_count() const { return values_.size(); }
  const KnownValue& value(ValueId id) const { return values_[id]; }
  Index node_count() const { return node_count_; }
  bool in_function() const { return frames_.back().is_function; }
  std::size_t depth() const { return frames_.size(); }

  // A state to return to if a later step fails.
  struct Mark {
    std::size_t frames, values, inputs, functions;
    Index nodes;
    std::vector<std::size_t> frame_nodes, frame_initializers;
  };
  Mark mark() const;
  void roll_back(const Mark& mark);

  ValueId add_input(std::vector<Value> by_run, std::optional<std::vector<Dim>> dims);
  // Throws Error (unsupported) inside a function, which holds no initializers.
  ValueId add_initializer(Tensor tensor);
  // Runs the node with every set of feeds. `outputs`: for each output true if it is named. Throws
  // Error if a run fails or a value is too large.
  std::vector<ValueId> add_node(Node node, const std::vector<ValueId>& inputs,
                                const std::vector<bool>& outputs);
  static constexpr ValueId omitted = static_cast<ValueId>(-1);

  // Opens the body of a node, whose inputs start with the values of `first`.
  std::vector<ValueId> open_body(const std::vector<ValueId>& first);
  std::shared_ptr<const Graph> close_body(const std::vector<ValueId>& outputs);
  std::vector<ValueId> open_function(const std::vector<ValueId>& first);
  std::shared_ptr<Function> close_function(const std::vector<ValueId>& outputs);

  // Returns the graph with these outputs, and the feeds of each run.
  Model model(const std::vector<ValueId>& outputs) const;
  std::vector<std::map<std::string, Value>> feeds() const;

  static Limits limits();

 private:
  struct Frame {
    Graph graph;
    bool is_function = false;
    std::size_t values = 0;                 // where its values begin
    std::vector<std::string> initializers;  // in order
  };
  struct Input {
    std::string name;
    std::vector<Value> by_run;
  };

  ValueId hold(KnownValue value);
  void drop_values(std::size_t count);
  std::string fresh_name(const char* stem);

  std::size_t runs_;
  std::map<std::string, Index> opsets_;
  std::vector<Frame> frames_;
  std::vector<KnownValue> values_;
  std::unordered_map<std::string, ValueId> ids_;
  std::vector<Input> inputs_;
  std::vector<std::shared_ptr<Function>> functions_;
  Index node_count_ = 0, names_ = 0;
};

}  // namespace touchstone::fuzz
