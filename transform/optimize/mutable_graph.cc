// Mutable graph for passes. Uses are maintained as nodes are added and erased, so that a query
// needs no traversal.
#include "transform/optimize/mutable_graph.h"

#include <algorithm>

#include "core/error.h"
#include "model/model.h"
#include "model/scopes.h"

namespace touchstone::transform {

namespace {

// Estimate of the memory for a node, its names, makers, uses and known values. Together with the
// plan, chains of 100,000 nodes took 1.9 KB (one input) and 2.7 KB (two) per node beyond the
// reference.
constexpr Index bytes_a_node = 1500;

// Collects every value name of the model, subgraphs included; fresh names avoid them.
void take_names(const Graph& graph, std::unordered_set<std::string>& taken) {
  for (const ValueInfo& input : graph.inputs) taken.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) taken.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) taken.insert(name);
  for (const Node& node : graph.nodes) {
    taken.insert(node.outputs.begin(), node.outputs.end());
    for (const Subgraph& inner : subgraphs_of(node)) take_names(*inner.graph, taken);
  }
}

std::vector<std::string> captures_of(const Node& node) {
  std::vector<std::string> names;
  for (const Subgraph& inner : subgraphs_of(node)) {
    for (std::string& name : captured_names(*inner.graph)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

MutableGraph::MutableGraph(Model model, const PassOptions& options)
    : options_(options),
      charge_(static_cast<Index>(model.graph.nodes.size()) * bytes_a_node),
      model_(std::move(model)) {
  take_names(model_.graph, taken_);
  for (const ValueInfo& input : model_.graph.inputs) inputs_.insert(input.name);
  for (const ValueInfo& output : model_.graph.outputs) outputs_.insert(output.name);
  for (Node& node : model_.graph.nodes) {
    nodes_.push_back(std::move(node));
    const Place place = std::prev(nodes_.end());
    add_maker(place);
    add_uses(place);
  }
  model_.graph.nodes.clear();
}

Model MutableGraph::finish() {
  Graph& graph = model_.graph;
  graph.nodes.clear();
  for (Node& node : nodes_) {
    node.index = static_cast<Index>(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
  }
  const auto is_constant = [&](const std::string& name) {
    return graph.initializers.contains(name) || graph.sparse_initializers.contains(name);
  };
  std::erase_if(graph.values, [&](const ValueInfo& value) {
    return !maker_.contains(value.name) && !is_input(value.name) && !is_constant(value.name);
  });
  std::erase_if(graph.initializer_metadata,
                [&](const auto& entry) { return !is_constant(entry.first); });
  return std::move(model_);
}

Index MutableGraph::opset(const std::string& domain) const {
  const auto found = model_.opsets.find(domain);
  return found == model_.opsets.end() ? 0 : found->second;
}

std::optional<MutableGraph::Place> MutableGraph::maker(const std::string& value) {
  const auto found = maker_.find(value);
  return found == maker_.end() ? std::nullopt : std::optional(found->second.place);
}

const Tensor* MutableGraph::constant(const std::string& value) const {
  if (inputs_.contains(value)) return nullptr;  // a default, which the caller may override
  const auto found = model_.graph.initializers.find(value);
  return found == model_.graph.initializers.end() ? nullptr : &found->second;
}

Index MutableGraph::uses(const std::string& value) const {
  const auto captured = captures_.find(value);
  const auto used = uses_.find(value);
  return (used == uses_.end() ? 0 : static_cast<Index>(used->second.size())) +
         (captured == captures_.end() ? 0 : captured->second) + (is_output(value) ? 1 : 0);
}

bool MutableGraph::is_captured(const std::string& value) const {
  const auto found = captures_.find(value);
  return found != captures_.end() && found->second > 0;
}

const KnownValue* MutableGraph::known(const std::string& value) {
  if (!asked_) infer();
  const auto found = known_.find(value);
  return found == known_.end() ? nullptr : &found->second;
}

void MutableGraph::infer() {
  asked_ = true, grown_ = false;
  Model whole = model_;
  Index index = 0;
  for (const Node& node : nodes_) {
    whole.graph.nodes.push_back(node);
    whole.graph.nodes.back().index = index++;
  }
  known_ = known_values(whole, {options_.limits, options_.draws, options_.checked, options_.fed});
  if (asked_of_ && !asked_of_->all.empty()) assumed_.push_back(*std::move(asked_of_));
  if (options_.checked) asked_of_ = without_large_constants(std::move(whole));
}

void MutableGraph::assume(const std::vector<ShapeAssumption>& assumptions) {
  if (assumptions.empty() || !asked_of_) return;
  std::vector<ShapeAssumption>& all = asked_of_->all;
  for (const ShapeAssumption& assumption : assumptions) {
    if (std::find(all.begin(), all.end(), assumption) == all.end()) all.push_back(assumption);
  }
}

std::vector<Assumed> MutableGraph::assumed() {
  if (asked_of_ && !asked_of_->all.empty()) assumed_.push_back(*std::move(asked_of_));
  asked_of_.reset();
  return std::move(assumed_);
}

std::string MutableGraph::fresh(const std::string& stem) {
  if (taken_.insert(stem).second) return stem;
  Index& next = next_.emplace(stem, 2).first->second;  // all lower numbers are taken
  while (true) {
    std::string name = stem + "_" + std::to_string(next++);
    if (taken_.insert(name).second) return name;
  }
}

void MutableGraph::add_constant(const std::string& value, Tensor tensor) {
  raise_ir(4);  // earlier formats require every constant to be an input too
  model_.graph.initializers.insert_or_assign(value, std::move(tensor));
}
void MutableGraph::drop_constant(const std::string& value) {
  model_.graph.initializers.erase(value);
}

MutableGraph::Place MutableGraph::insert(Place place, Node node) {
  if (!node.function && node.signature == nullptr)
    node.signature = find_signature(node.domain, node.op, opset(node.domain));
  if (!node.function && node.signature == nullptr) BUG("a pass made a node that means nothing");
  const Place made = nodes_.insert(place, std::move(node));
  if (const Index charged = static_cast<Index>(nodes_.size()) * bytes_a_node;
      charged > charge_.bytes())
    charge_.resize(charged + charged / 8);
  add_maker(made);
  add_uses(made);
  grown_ = true;
  return made;
}

MutableGraph::Place MutableGraph::erase(Place place) {
  drop_uses(place);
  for (const std::string& output : place->outputs) {
    const auto found = maker_.find(output);  // another node may compute it by now
    if (found != maker_.end() && found->second.place == place) maker_.erase(found);
  }
  return nodes_.erase(place);
}

void MutableGraph::add_maker(Place place) {
  for (std::size_t k = 0; k < place->outputs.size(); ++k) {
    const std::string& output = place->outputs[k];
    if (!output.empty()) maker_.insert_or_assign(output, Maker{place, k});
  }
}

void MutableGraph::add_uses(Place place) {
  for (std::size_t k = 0; k < place->inputs.size(); ++k) {
    const std::string& input = place->inputs[k];
    if (!input.empty()) uses_[input].insert({&*place, k});
  }
  count_captures(*place, 1);
}

void MutableGraph::drop_uses(Place place) {
  for (std::size_t k = 0; k < place->inputs.size(); ++k) drop_use(place->inputs[k], {&*place, k});
  count_captures(*place, -1);
}

void MutableGraph::count_captures(const Node& node, Index by) {
  for (const std::string& name : captures_of(node)) captures_[name] += by;
}

void MutableGraph::drop_use(const std::string& value, const Use& use) {
  const auto found = uses_.find(value);
  if (found == uses_.end()) return;
  found->second.erase(use);
  if (found->second.empty()) uses_.erase(found);
}

bool MutableGraph::replace_value(const std::string& from, const std::string& to) {
  if (from == to || is_captured(from)) return false;
  if (is_output(from)) {
    // The node that computes `to` computes `from` instead.
    const auto made = maker_.find(to);
    if (made == maker_.end() || is_output(to) || is_captured(to)) return false;
    const Maker maker = made->second;
    const std::string old = to;  // a copy: `to` may reference the output string changed below
    maker_.erase(made);
    maker_.insert_or_assign(from, maker);
    maker.place->outputs[maker.output] = from;
    return replace_value(old, from);
  }
  move_uses(from, to);
  return true;
}

void MutableGraph::move_uses(const std::string& from, const std::string& to) {
  const auto used = uses_.find(from);
  if (used == uses_.end()) return;
  const Uses moved = std::move(used->second);
  uses_.erase(used);
  Uses& uses = uses_[to];
  for (const Use& use : moved) {
    use.node->inputs[use.input] = to;
    uses.insert(use);
  }
}

Index MutableGraph::keep_functions(const std::set<const Function*>& called) {
  return static_cast<Index>(std::erase_if(
      model_.functions,
      [&](const std::shared_ptr<Function>& function) { return !called.contains(function.get()); }));
}

Index MutableGraph::bytes_left() const {
  return std::min(options_.weights, options_.limits.bytes / 4) - reserved_bytes_;
}

bool MutableGraph::reserve_bytes(Index bytes) {
  if (bytes > bytes_left()) return false;
  reserved_bytes_ += bytes;
  return true;
}

void MutableGraph::freeze(const std::unordered_set<std::string>& values) {
  std::erase_if(model_.graph.inputs,
                [&](const ValueInfo& input) { return values.contains(input.name); });
  for (const std::string& value : values) inputs_.erase(value);
}

}  // namespace touchstone::transform
