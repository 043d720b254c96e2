// One pass of shape inference with a number substituted for every symbol. The kernels' plans give
// the shapes. Small tensors with known inputs are computed by the kernels themselves, since other
// shapes depend on them.
//
// An undetermined size (a dimension without a name, a loop's trip count) gets an unnamed symbol of
// its own. It is identified by its place of origin, so that it is the same symbol in every pass.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "model/graph.h"
#include "reference/references.h"
#include "reference/registry.h"
#include "reference/shapes/index_evaluator.h"
#include "reference/shapes/symbols.h"
#include "reference/value_facts.h"

namespace touchstone {

// Facts known of one value.
struct PartialValue {
  bool left_out = false;
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // for a tensor
  std::optional<Shape> inner;  // common to the tensors in a container; any_size where they differ
  std::optional<Tensor> value;
  // Over the symbols of ShapeInference::symbols. Null: shape and value are the same at all sizes.
  std::shared_ptr<const SymbolicTensor> symbolic = nullptr;

  static PartialValue of(const Tensor& tensor);
};

bool is_tensor(const PartialValue& known);
// True for a shape of so few elements that a tensor of it is computed.
bool is_small(const Shape& shape);
// Returns false for a shape beyond the limits, which stays unknown: plans compute with sizes that
// tensors can have.
bool can_be_a_tensor(const PartialValue& known, const Limits& limits);
class CustomOperator;
// Sizes of a value over symbols, constants too; without a rank if they are not followed.
SymbolicTensor symbolic_sizes(const PartialValue& known);
SymbolicTensor symbolic_sizes(const std::optional<Shape>& shape, const SymbolicTensor* symbolic);
bool have_same_sizes(const PartialValue& a, const PartialValue& b);
// The number that a tensor of one element holds over symbols; nothing if it is a constant, or not
// followed.
std::optional<SymbolicInteger> symbolic_number(const PartialValue& known);
// Adds what an operator of the program says about its outputs; nothing if it fails.
void infer_custom(const Node& node, const CustomOperator& custom,
                  const std::vector<PartialValue>& inputs, std::vector<PartialValue>& outputs,
                  const Limits& limits);
// A node's inputs as plans see them, and which of its outputs it names.
std::vector<Described> described(const Node& node, const std::vector<PartialValue>& inputs);
std::vector<bool> wanted(const Node& node);

// A value of the model, in one of its graphs or in one call of a function.
struct ShapeRow {
  std::string path, name;
  const Node* node = nullptr;           // the producer; null for inputs
  const ValueInfo* declared = nullptr;  // null if there is no declaration
  std::optional<ValueType> type;
};

struct Symbol {
  std::string name;       // "" for an unnamed size
  bool of_input = false;  // used by the model's inputs
};

// Values of a node's inputs that are not known, by input and element.
using TrialValues = std::vector<std::vector<Index>>;

// Results of a node's trial values in all passes (trial_values.cc).
struct TrialRecord {
  int passes = 0;
  std::vector<TrialValues> valid;                          // some of those that broke no rule
  std::set<std::pair<std::size_t, Index>> varying;         // output and dimension
  std::map<std::size_t, std::vector<std::set<Index>>> of;  // input: valid values of each element
};

// State common to all passes over a model: its values and symbols, and the steps left. A step is a
// visit of a typical node; nodes that cost more time or memory take more steps.
class ShapeInference {
 public:
  ShapeInference(const Model& model, const Limits& limits, Index steps)
      : model(model), limits(limits), steps_left(steps) {}

  std::size_t row(const std::string& path, const std::string& name, const Node* node,
                  const Graph* graph);
  std::size_t named(const std::string& name, bool of_input);
  std::size_t unnamed(const std::string& place);
  const ValueInfo* declaration(const Graph& graph, const std::string& name);

  const Model& model;
  const Limits& limits;
  Index steps_left;
  std::vector<ShapeRow> rows;
  std::vector<Symbol> symbols;
  std::unordered_map<std::string, std::size_t> by_name;  // symbols
  std::unordered_map<std::string, TrialRecord> trials;   // by place
  // Null: shapes are numbers alone. A proving pass follows `input_sizes`, whose hints are the sizes
  // of its feeds; another one `symbol_size`, whose hints are the sizes drawn.
  SymbolTable* sizes = nullptr;
  std::unordered_map<std::string, std::vector<SymbolicInteger>> input_sizes;
  std::function<SymbolicInteger(std::size_t symbol)> symbol_size;
  std::vector<std::shared_ptr<const SymbolicTensor>> symbolic;  // by row, of the last such pass
  const SymbolicTensor* symbolic_of(std::size_t row) const {
    return row < symbolic.size() ? symbolic[row].get() : nullptr;
  }

 private:
  std::unordered_map<std::string, std::size_t> row_of_, by_place_;
  std::unordered_map<const Graph*, std::unordered_map<std::string, const ValueInfo*>> declared_;
};

// A constraint violation at the sizes of a pass.
struct Violation {
  Index step;  // position in the pass
  bool surely_run;
  std::string inputs;  // shapes and values of the node's inputs, as text
  Error error;
  Index node = -1;            // index of the main graph's node; -1 in a subgraph or a function
  bool of_constants = false;  // no input of the node depends on symbols, where they are followed
};

// Result of one pass.
struct InferredRun {
  std::vector<std::optional<Shape>> shapes;  // by row
  std::vector<Violation> violations;
  std::map<std::string, bool> conditions;  // of the main graph's choices of a branch, by name
  bool gave_up = false;                    // out of steps
  Index guesses = 0;                       // shapes by trial values or declarations alone
};

using Sizes = std::function<Index(std::size_t symbol)>;
using FedShapes = std::map<std::string, Shape>;

InferredRun walk(ShapeInference& state, const Sizes& sizes);

// A proving pass: the inputs have the shapes of `feeds`, declarations are ignored, no size is
// drawn. Shapes that the operators' definitions do not determine stay unknown.
InferredRun proving_walk(ShapeInference& state, const FedShapes& feeds);

// One pass over a model. Use it through walk() or proving_walk().
class ShapeWalk {
 public:
  // Exactly one of `sizes` and `feeds` is given; with `feeds` the pass proves (proving_walk).
  ShapeWalk(ShapeInference& state, const Sizes* sizes, const FedShapes* feeds)
      : state_(state), sizes_(sizes), feeds_(feeds) {}
  InferredRun go();
  // Values of the main graph and inputs of its nodes in the last pass (shape_memo.cc).
  struct Memo;
  // Like go(), for a proving pass that follows others of the same model: visits the nodes whose
  // inputs differ from those of the last visit. After an exception, memo and state are undefined.
  InferredRun go_on(Memo& memo);
  // Truncates a name for use in paths: names may be of any length and repeat in many places.
  static std::string stem(const std::string& name) { return name.substr(0, 64); }

 private:
  // The values of one graph or one function call; a subgraph sees the enclosing frame.
  struct Frame {
    const Frame* outer = nullptr;
    const Graph* graph = nullptr;            // null in a function
    const Attributes* attributes = nullptr;  // the enclosing function's
    std::string path;
    int depth = 1;
    bool surely_run = true;  // false in a branch or body that may never run
    std::unordered_map<std::string, PartialValue> values;
  };

  PartialValue look_up(const std::string& name, const Frame& frame) const;
  void define(const std::string& name, PartialValue known, const Node* node, Frame& frame);
  void take_declared(PartialValue& known, const ValueInfo& declared, const std::string& place,
                     bool of_input);
  void visit_all(const std::vector<Node>& nodes, Frame& frame);
  // symbolic_outputs.cc
  void follow(const Node& node, const std::vector<PartialValue>& inputs,
              std::vector<PartialValue>& outputs);
  // For outputs whose sizes no program says. A proving pass does not know them if an input depends
  // on symbols; another one takes sizes that are an input's, or were drawn for the node.
  void guess(const std::vector<PartialValue>& inputs, std::vector<PartialValue>& outputs);
  SymbolicTensor guessed_sizes(const std::vector<PartialValue>& inputs, const Shape& shape) const;
  bool follow_elements(IndexEvaluator& evaluator, std::size_t k, const Tensor& value,
                       SymbolicTensor& into);

  // Returns false if another visit with the same inputs may end otherwise, or must be reported.
  bool visit(const Node& written, Frame& frame);
  std::vector<PartialValue> outputs_of(const Node& node, const std::vector<PartialValue>& inputs,
                                       Frame& frame);
  std::vector<PartialValue> outputs_of_operator(const Node& node,
                                                const std::vector<PartialValue>& inputs);
  std::vector<PartialValue> outputs_of_function(const Node& node,
                                                const std::vector<PartialValue>& inputs,
                                                const Frame& frame);
  std::optional<Frame> opened(const Frame& caller, std::string path) const;

  // shape_container.cc
  std::vector<PartialValue> outputs_of_container(const Node& node, InferValues infer,
                                                 const std::vector<PartialValue>& inputs);
  std::vector<PartialValue> outputs_of_map(const Node& node,
                                           const std::vector<PartialValue>& inputs, Frame& frame);
  std::optional<Shape> with_names(Shape shape, const std::string& place);

  // shape_control.cc
  static bool is_control(const Node& node);
  std::vector<PartialValue> outputs_of_control(const Node& node,
                                               const std::vector<PartialValue>& inputs,
                                               Frame& frame);
  std::vector<PartialValue> outputs_of_branches(const Node& node,
                                                const std::vector<PartialValue>& inputs,
                                                Frame& frame);
  std::vector<PartialValue> outputs_of_loop(const Node& node,
                                            const std::vector<PartialValue>& inputs, Frame& frame);
  std::vector<PartialValue> outputs_of_scan(const Node& node,
                                            const std::vector<PartialValue>& inputs, Frame& frame);
  std::vector<PartialValue> run_graph(const Graph& graph, const std::string& name,
                                      std::vector<PartialValue> inputs, const Node& holder,
                                      const Frame& caller, bool surely_run);
  PartialValue joined(const PartialValue& a, const PartialValue& b, const std::string& place);
  std::shared_ptr<const SymbolicTensor> joined_sizes(const PartialValue& a, const PartialValue& b,
                                                     const PartialValue& both);
  bool proves() const { return feeds_ != nullptr; }
  // Throws NotKnown in a proving pass, as does every drawn size.
  Index drawn(std::size_t symbol);
  Index unnamed_size(const std::string& place) { return drawn(state_.unnamed(place)); }
  PartialValue input_of(const ValueInfo& input, const Frame& frame);

  // trial_values.cc
  std::optional<Inferred> probed(const Node& node, const ReferenceEntry& entry,
                                 const std::vector<PartialValue>& inputs, const std::string& place);

  Inferred inferred(const Node& node, const ReferenceEntry& entry,
                    const std::vector<PartialValue>& inputs) const;
  bool computed(const Node& node, const ReferenceEntry& entry,
                const std::vector<PartialValue>& inputs, std::vector<PartialValue>& outputs) const;

  void visit_changed(Memo& memo);

  ShapeInference& state_;
  const Sizes* const sizes_;
  const FedShapes* const feeds_;
  InferredRun found_;
  Index step_ = 0;
  std::string place_;  // the visited node: origin of unnamed sizes
  // Sizes drawn for it, over symbols.
  std::vector<SymbolicInteger> drawn_;
};

struct ShapeWalk::Memo {
  struct Visit {
    bool repeats = false;
    std::vector<const PartialValue*> read;  // elements of frame.values; null for constants
    std::vector<PartialValue> inputs;       // as they were, for those
  };
  Frame frame;
  std::vector<Visit> visits;                 // by node
  std::vector<std::optional<Shape>> shapes;  // by row
};

}  // namespace touchstone
