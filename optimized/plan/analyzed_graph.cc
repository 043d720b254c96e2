// Collects graph facts for planning. Shapes are proved from the operators' definitions and the fed
// shapes; declared shapes are ignored.
#include "optimized/plan/analyzed_graph.h"

#include <algorithm>

#include "core/budget_watch.h"
#include "model/scopes.h"
#include "optimized/plan/plan.h"
#include "reference/shapes/proved_shapes.h"

namespace touchstone::optimized {

Index AnalyzedGraph::value_of(const std::string& name) {
  const auto [at, is_new] = by_name_.try_emplace(name, static_cast<Index>(values_.size()));
  if (is_new) values_.emplace_back().name = name;
  return at->second;
}

Index AnalyzedGraph::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? no_value : found->second;
}

AnalyzedGraph::AnalyzedGraph(const Model& model, const std::map<std::string, Shape>& feeds,
                             const PlanOptions& options)
    : model_(model),
      weights_(options.weights ? options.weights : std::make_shared<SharedWeights>()),
      winograd_(options.winograd) {
  const Graph& graph = model.graph;
  for (const auto& [name, tensor] : graph.initializers) {
    AnalyzedValue& fact = values_[static_cast<std::size_t>(value_of(name))];
    fact.type = Value(tensor).type();
    fact.shape = tensor.shape();
    if (!feeds.contains(name)) fact.constant = &tensor;
  }
  for (const ValueInfo& input : graph.inputs) value_of(input.name);
  BudgetWatch watch;
  for (std::size_t k = 0; k < graph.nodes.size(); ++k, watch.step()) {
    const Node& node = graph.nodes[k];
    AnalyzedNode fact{&node, {}, {}};
    for (const std::string& name : node.inputs)
      fact.inputs.push_back(name.empty() ? no_value : value_of(name));
    for (const std::string& name : names_used(node)) {
      std::vector<Index>& users = values_[static_cast<std::size_t>(value_of(name))].users;
      if (users.empty() || users.back() != static_cast<Index>(k))
        users.push_back(static_cast<Index>(k));
    }
    for (const std::string& name : node.outputs) {
      fact.outputs.push_back(name.empty() ? no_value : value_of(name));
      if (!name.empty())
        values_[static_cast<std::size_t>(fact.outputs.back())].producer = static_cast<Index>(k);
    }
    nodes_.push_back(std::move(fact));
  }
  for (const ValueInfo& output : graph.outputs)
    values_[static_cast<std::size_t>(value_of(output.name))].output = true;

  std::optional<ShapeProver> own;
  ShapeProver* const prover = options.prover ? options.prover : &own.emplace(model, options.limits);
  prover->prove(feeds);
  for (AnalyzedValue& fact : values_) {
    ProvedValue proved = prover->value(fact.name);
    if (!proved.type && !proved.shape) continue;
    fact.type = std::move(proved.type);
    fact.shape = std::move(proved.shape);
  }
  for (AnalyzedNode& node : nodes_) node.broken = prover->violations().contains(node.node->index);
  forget_shapes(options.unclaimed);
  if (options.folds) fold(options.limits);
}

void AnalyzedGraph::forget_shapes(const std::set<std::string>& unclaimed) {
  if (unclaimed.empty()) return;
  std::set<std::string> open = unclaimed;
  for (const AnalyzedNode& fact : nodes_) {
    const std::vector<std::string> read = names_used(*fact.node);
    if (std::any_of(read.begin(), read.end(),
                    [&](const std::string& name) { return open.contains(name); }))
      open.insert(fact.node->outputs.begin(), fact.node->outputs.end());
  }
  for (AnalyzedValue& fact : values_) {
    if (open.contains(fact.name)) fact.shape.reset();
  }
}

}  // namespace touchstone::optimized
