// Constant folding: nodes whose inputs are all constant are evaluated once by the reference
// kernels.
#include <algorithm>
#include <unordered_set>

#include "core/budget_watch.h"
#include "core/error.h"
#include "model/scopes.h"
#include "reference/interpreter.h"
#include "transform/optimize/graph_passes.h"
#include "transform/optimize/matcher.h"
#include "transform/optimize/patterns/copy.h"

namespace touchstone::transform {

namespace {

constexpr std::string_view keeping = "keep-as-written", weighing = "fold-weights";
constexpr std::string_view fed = "x";  // name of the run-time input in patterns of fold-weights
constexpr Index max_times = 16;        // largest growth in bytes: 2-bit elements as float32
constexpr Index least_bytes = 16384;   // inputs and outputs that take longer than a plan

Index bytes_of(const Tensor& tensor) {
  if (tensor.type() != Type::string) return packed_bytes(tensor.type(), tensor.size());
  Index bytes = 0;
  for (Index k = 0; k < tensor.size(); ++k)
    bytes += static_cast<Index>(tensor.data<std::string>()[k].size());
  return bytes;
}

// Returns the size of an output in bytes, if inference knows it before the node runs.
std::optional<Index> foreseen(MutableGraph& graph, const std::string& value) {
  const KnownValue* known = graph.known(value);
  if (known == nullptr || !known->type || !known->rank) return std::nullopt;
  if (known->type->kind != ValueType::Kind::tensor) return std::nullopt;
  Shape shape;
  for (Index axis = 0; axis < *known->rank; ++axis) {
    const std::optional<Index> size = known->size(axis);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return packed_bytes(known->type->element, count(shape));
}

// True if a pattern without a replacement is enabled.
bool is_asked(const Pattern& pattern, const PassOptions& options) {
  const bool on = is_wanted(options, pattern.pass, pattern.level) ||
                  is_wanted(options, pattern.name, pattern.level);
  const auto named = [&](std::string_view name) {
    return std::find(options.without.begin(), options.without.end(), name) != options.without.end();
  };
  return on && !named(pattern.name) && !named(pattern.pass);
}

std::optional<PatternMatch> find_asked(MutableGraph& graph, MutableGraph::Place place,
                                       std::string_view pass) {
  for (const Pattern& pattern : all_patterns()) {
    if (pattern.pass != pass || !is_asked(pattern, graph.options())) continue;
    if (std::optional<PatternMatch> found = find_match(pattern, graph, place)) return found;
  }
  return std::nullopt;
}

// True if a pattern of the pass `keep-as-written` matches: later passes recognize the node better
// unfolded.
bool is_kept(MutableGraph& graph, MutableGraph::Place place) {
  return find_asked(graph, place, keeping).has_value();
}

bool is_copy(const Node& node) { return node.op == copy_operator && node.domain.empty(); }

// True if the model may copy a value of the type: a graph output keeps its name, so a node must
// produce it.
bool copies(const MutableGraph& graph, Type type) {
  const Signature* const identity = find_signature("", copy_operator, graph.opset(""));
  if (identity == nullptr) return false;
  const auto& types = identity->types.front().types;
  return std::find(types.begin(), types.end(), text(tensor_type(type))) != types.end();
}

// Adds a constant in place of an output of the node. A graph output becomes a copy of it, made by
// a node before this one.
void replace_output(MutableGraph& graph, MutableGraph::Place place, const std::string& output,
                    Tensor value) {
  if (!graph.is_output(output)) return graph.add_constant(output, std::move(value));
  const std::string name = graph.fresh(output + "/value");
  graph.add_constant(name, std::move(value));
  graph.move_uses(output, name);
  Node copy;
  copy.op = copy_operator;
  copy.name = place->name;
  copy.metadata = place->metadata;
  copy.inputs = {name};
  copy.outputs = {output};
  graph.insert(place, std::move(copy));
}

// Redirects the readers of a copy that gives a graph output to the copied constant, so that they
// may be folded; the copy stays. Returns false for any other node.
bool bypass(MutableGraph& graph, const Node& node) {
  if (!is_copy(node) || !graph.is_output(node.outputs[0])) return false;
  graph.move_uses(node.outputs[0], node.inputs[0]);
  return true;
}

bool depends_on_constants(MutableGraph& graph, MutableGraph::Place place) {
  const Node& node = *place;
  if (node.signature == nullptr || draws(node) || !subgraphs_of(node).empty()) return false;
  for (const std::string& input : node.inputs) {
    if (!input.empty() && graph.constant(input) == nullptr) return false;
  }
  return true;
}

std::vector<Value> constants(const MutableGraph& graph, const Node& node) {
  std::vector<Value> values;
  for (const std::string& input : node.inputs)
    values.push_back(input.empty() ? Value() : Value(*graph.constant(input)));
  return values;
}

// Work budget for folding one node, charged to the graph's total for all constants.
class Allowance {
 public:
  explicit Allowance(MutableGraph& graph)
      : graph_(graph),
        budget_("folding_work", graph.options().limits.folding_work - graph.folding_work) {}
  ~Allowance() { graph_.folding_work += budget_.work(); }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;

 private:
  MutableGraph& graph_;
  const Budget budget_;
};

// Returns the size in bytes of the node's inputs.
Index bytes_read(const MutableGraph& graph, const Node& node) {
  Index bytes = 0;
  for (const std::string& input : node.inputs) {
    if (!input.empty()) bytes += bytes_of(*graph.constant(input));
  }
  return bytes;
}

// Replaces the node by constants if they take at most `most` bytes together, and moves `place` to
// the next one. Returns their size, or nullopt.
std::optional<Index> fold(MutableGraph& graph, MutableGraph::Place& place, Index most) {
  const Node& node = *place;
  bool all_foreseen = true;
  Index bytes_touched = bytes_read(graph, node);
  for (const std::string& output : node.outputs) {
    const std::optional<Index> bytes = output.empty() ? 0 : foreseen(graph, output);
    if (bytes && *bytes > most) return std::nullopt;
    all_foreseen = all_foreseen && bytes;
    bytes_touched += bytes.value_or(0);
  }
  const PassOptions::Evaluator& evaluator = graph.options().evaluator;
  const bool is_large = all_foreseen && bytes_touched >= least_bytes;
  std::vector<Value> outputs;
  try {
    const Allowance allowance(graph);
    Limits limits = graph.options().limits;  // bounds outputs of unknown size too
    limits.bytes = std::min(limits.bytes, most);
    const LimitsScope scope(limits);
    outputs = evaluator && is_large
                  ? evaluator(node, constants(graph, node), graph.model())
                  : evaluate(*node.signature, node.attributes, constants(graph, node),
                             static_cast<Index>(node.outputs.size()));
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    check_budget();
    return std::nullopt;  // not an error here: running the model reports it
  }
  Index bytes = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].is_tensor()) return std::nullopt;
    const Tensor& made = outputs[k].tensor();
    if (graph.is_output(node.outputs[k]) && !copies(graph, made.type())) return std::nullopt;
    bytes += bytes_of(made);
  }
  if (bytes > most) return std::nullopt;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const std::string& output = node.outputs[k];
    if (!output.empty()) replace_output(graph, place, output, outputs[k].tensor());
  }
  place = graph.erase(place);
  return bytes;
}

// Returns the values that kernels want constant, and all values that these are computed from.
std::unordered_set<std::string> wanted_constants(MutableGraph& graph) {
  std::unordered_set<std::string> wanted;
  BudgetWatch watch;
  for (auto place = graph.nodes().end(); place != graph.nodes().begin(); watch.step()) {
    --place;
    const auto is_wanted = [&](const std::string& output) { return wanted.contains(output); };
    if (std::any_of(place->outputs.begin(), place->outputs.end(), is_wanted))
      wanted.insert(place->inputs.begin(), place->inputs.end());
    const std::optional<PatternMatch> found = find_asked(graph, place, weighing);
    for (std::size_t slot = 0; found && slot < found->values.size(); ++slot) {
      if (found->pattern().slots[slot] != fed && !found->made[slot])
        wanted.insert(found->values[slot]);
    }
  }
  wanted.erase("");
  return wanted;
}

}  // namespace

bool draws(const Node& node) {
  if (node.function || node.signature->kind == "random") return true;
  const auto& attributes = node.signature->attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const AttributeSpec& attribute) { return attribute.name == "seed"; });
}

Index fold_constants(MutableGraph& graph) {
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    if (depends_on_constants(graph, place) && !bypass(graph, *place) && !is_kept(graph, place) &&
        fold(graph, place, graph.options().growth + bytes_read(graph, *place))) {
      ++changes;
    } else {
      ++place;
    }
  }
  return changes;
}

Index fold_weights(MutableGraph& graph) {
  const std::unordered_set<std::string> wanted = wanted_constants(graph);
  const auto most = [&](const Node& node) {
    const Index left = graph.bytes_left();
    const auto is_wanted = [&](const std::string& output) { return wanted.contains(output); };
    if (std::any_of(node.outputs.begin(), node.outputs.end(), is_wanted)) return left;
    return std::min(left, graph.options().growth + max_times * bytes_read(graph, node));
  };
  Index changes = 0;
  BudgetWatch watch;
  for (auto place = graph.nodes().begin(); place != graph.nodes().end(); watch.step()) {
    const std::optional<Index> bytes = depends_on_constants(graph, place) && !bypass(graph, *place)
                                           ? fold(graph, place, most(*place))
                                           : std::nullopt;
    if (bytes && graph.reserve_bytes(*bytes)) {
      ++changes;
    } else if (!bytes) {
      ++place;
    }
  }
  return changes;
}

}  // namespace touchstone::transform
