// Runs the passes and the lowerings of a session's model.
#include "optimized/session_model.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/restorable.h"
#include "model/bundled.h"
#include "optimized/folding.h"
#include "optimized/lowering/half_precision.h"
#include "optimized/lowering/quantised_graph.h"
#include "reference/plan.h"

namespace touchstone::optimized {
namespace {

void add_weights(Graph& graph, std::map<const void*, std::vector<Tensor*>>& to) {
  const auto add = [&](Tensor& tensor) {
    // Smaller ones are not worth a restore.
    if (tensor.type() == Type::float32 &&
        packed_bytes(tensor.type(), tensor.size()) >= min_extra_capacity)
      to[tensor.identity()].push_back(&tensor);
  };
  for (auto& [name, tensor] : graph.initializers) add(tensor);
  for (Node& node : graph.nodes) {
    for (auto& [name, attribute] : node.attributes) {
      if (Tensor* const tensor = std::get_if<Tensor>(&attribute.is)) add(*tensor);
    }
  }
}

}  // namespace

SessionModel::SessionModel(transform::Optimized made, const transform::PassOptions& passes)
    : model(std::move(made.model)), assumed(std::move(made.assumed)), prover(model, passes.limits) {
  for (const transform::Assumed& each : assumed) provers.emplace_back(each.model, passes.limits);
  const std::vector<Node>& nodes = model.graph.nodes;
  controls_ = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.signature != nullptr && node.signature->form == "control";
  });
  if (!controls_ || passes.fed.empty()) return;
  prover.prove(passes.fed.back());
  for (const auto& [name, condition] : prover.conditions()) known_conditions_.insert(name);
}

bool SessionModel::holds_for(const transform::FedShapes& shapes) {
  return std::equal(assumed.begin(), assumed.end(), provers.begin(),
                    [&](const transform::Assumed& each, ShapeProver& of_it) {
                      return hold(each, of_it, shapes);
                    });
}

bool SessionModel::determine_branch(const transform::FedShapes& shapes) {
  if (!controls_) return false;
  prover.prove(shapes);
  const std::map<std::string, bool>& conditions = prover.conditions();
  return std::any_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    return !known_conditions_.contains(condition.first);
  });
}

bool SessionModel::relies_on_condition() const {
  return std::any_of(assumed.begin(), assumed.end(), [](const transform::Assumed& each) {
    return std::any_of(each.all.begin(), each.all.end(),
                       [](const transform::ShapeAssumption& it) { return it.is_condition; });
  });
}

std::optional<transform::FedShapes> only_shapes(const Graph& graph) {
  transform::FedShapes shapes;
  for (const ValueInfo& input : graph.inputs) {
    if (graph.initializers.contains(input.name) || graph.sparse_initializers.contains(input.name))
      continue;
    if (!input.type || input.type->kind != ValueType::Kind::tensor || !input.shape)
      return std::nullopt;
    Shape& shape = shapes[input.name];
    for (const Dim& dim : *input.shape) {
      if (!dim.size) return std::nullopt;
      shape.push_back(*dim.size);
    }
  }
  return shapes;
}

Model with_sizes(Model model, const std::map<std::string, Index>& dims) {
  for (ValueInfo& input : model.graph.inputs) {
    if (!input.shape) continue;
    for (Dim& dim : *input.shape) {
      const auto found = dims.find(dim.symbol);
      if (!dim.size && found != dims.end()) dim.size = found->second;
    }
  }
  return model;
}

std::shared_ptr<const transform::PassOptions> passes_of(const SessionOptions& options) {
  if constexpr (is_bundle) return nullptr;
  auto made = std::make_shared<transform::PassOptions>(options.passes);
  made->limits = options.limits;
  return made;
}

// Runs the passes, and the lowerings that are no passes.
transform::Optimized optimized(Model model, const SessionOptions& options,
                               const transform::PassOptions& passes) {
  refuse_what_cannot_run(model);
  std::vector<transform::Assumed> assumed;
  if (options.devices == "cpu" && integers_are_faster() &&
      transform::is_wanted(passes, "spread-quantisation", transform::Level::all) &&
      has_quantised(model)) {
    transform::PassOptions early = passes;  // without the passes that make floats of integers
    early.level = transform::Level::extended;
    transform::Optimized kept = transform::optimize(std::move(model), early);
    assumed = std::move(kept.assumed);
    model = lower_quantised(std::move(kept.model), passes);
  }
  transform::Optimized made = transform::optimize(std::move(model), passes);
  std::move(assumed.begin(), assumed.end(), std::back_inserter(made.assumed));
  if (passes.level >= transform::Level::extended)
    made.model = lower_half_precision(std::move(made.model), passes);
  return made;
}

std::shared_ptr<SessionModel> optimized_model(Model model, const SessionOptions& options,
                                              std::vector<transform::FedShapes> fed, bool draws,
                                              bool checked, ThreadPool& pool, Model* written) {
  const LimitsScope scope(options.limits);
  transform::PassOptions passes = options.passes;
  passes.limits = options.limits;
  passes.fed = std::move(fed);
  passes.draws = draws;
  passes.checked = checked;
  transform::Optimized made;
  if constexpr (is_bundle) {
    made.model = std::move(model);
  } else {
    passes.evaluator = fast_evaluator(passes, passes.level >= transform::Level::extended, pool);
    made = optimized(std::move(model), options, passes);
  }
  std::map<const void*, std::vector<Tensor*>> weights;
  add_weights(made.model.graph, weights);
  if (written) add_weights(written->graph, weights);
  for (const auto& [identity, tensors] : weights) make_restorable(tensors);
  return std::make_shared<SessionModel>(std::move(made), passes);
}

}  // namespace touchstone::optimized
