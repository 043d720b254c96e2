// Plans of a subgraph. Later plans leave open a shape that changed between runs: a loop that grows
// a list needs few of them.
#include "optimized/lowering/bodies.h"

#include <algorithm>

#include "core/error.h"
#include "model/scopes.h"
#include "optimized/threads/pool.h"

namespace touchstone {
namespace {

// Shapes for which plans are made before one without the value's shape. Fast kernels for float32
// need shapes, others do not.
constexpr std::size_t most_shapes = 6, most_shapes_of_lists = 1;
constexpr std::size_t most_plans = most_shapes + 1;

}  // namespace

BodyPlans::BodyPlans(const AnalyzedGraph& outer, const Graph& body)
    : outer_(outer), body_(body), captured_(captured_names(body)) {}

void BodyPlans::begin() {
  feeds_.clear();
  runs_ = 0;
}

std::vector<Plan*> BodyPlans::plans() {
  std::vector<Plan*> all;
  for (Made& made : plans_) all.push_back(made.plan.get());
  return all;
}

// The body as a model of its own: captured constants are initializers, other captured values are
// inputs.
BodyPlans::Made BodyPlans::made(const Shapes& shapes, const FedTypes& types,
                                std::set<std::string> unclaimed, const RunState& state) const {
  auto model = std::make_unique<Model>();
  model->graph = body_;
  for (const std::string& name : captured_) {
    const Tensor* const constant = outer_.value(outer_.find(name)).constant;
    if (constant) {
      model->graph.initializers.emplace(name, *constant);
    } else {
      model->graph.inputs.emplace_back().name = name;
    }
  }
  for (ValueInfo& input : model->graph.inputs) {
    if (const auto fed = types.find(input.name); fed != types.end()) input.type = fed->second;
    input.shape.reset();
  }
  for (const auto& [name, type] : types) {  // what is fed is no constant
    model->graph.initializers.erase(name);
    model->graph.sparse_initializers.erase(name);
  }
  PlanOptions options = *state.options;
  options.unclaimed = unclaimed;
  options.device = nullptr;
  options.host = options.nested = true;
  options.change = nullptr;
  options.arena = nullptr;  // the outer plan is using it
  options.prover = nullptr;
  auto plan = std::make_unique<Plan>(*model, shapes, state.pool.size(), options);
  return {shapes, types, std::move(unclaimed), std::move(model), std::move(plan)};
}

BodyPlans::Shapes BodyPlans::known_shapes() {
  Shapes shapes;
  for (const auto& [name, value] : feeds_) {
    if (!value.is_tensor()) continue;
    const Tensor& tensor = value.tensor();
    std::vector<Shape>& seen = seen_[name];
    const std::size_t most = tensor.type() == Type::float32 ? most_shapes : most_shapes_of_lists;
    if (seen.size() > most) continue;
    if (std::find(seen.begin(), seen.end(), tensor.shape()) == seen.end())
      seen.push_back(tensor.shape());
    if (seen.size() <= most) shapes.emplace(name, tensor.shape());
  }
  return shapes;
}

BodyPlans::Made& BodyPlans::plan_for(const RunState& state) {
  const Shapes shapes = known_shapes();
  FedTypes types;
  for (const auto& [name, value] : feeds_) types.emplace(name, value.type());
  for (auto at = plans_.begin(); at != plans_.end(); ++at) {
    if (at->shapes == shapes && at->types == types) {
      plans_.splice(plans_.begin(), plans_, at);
      return plans_.front();
    }
  }
  plans_.push_front(made(shapes, types, {}, state));
  if (plans_.size() > most_plans) plans_.pop_back();
  return plans_.front();
}

std::vector<Value> BodyPlans::run(std::vector<Value> inputs, RunState& state) {
  if (runs_++ == 0) {
    for (const std::string& name : captured_) {
      const Index value = outer_.find(name);
      if (value == no_value) BUG("a body captures what its graph does not hold");
      if (!outer_.value(value).constant)
        feeds_[name] = state.values[static_cast<std::size_t>(value)];
    }
  }
  for (std::size_t k = 0; k < inputs.size(); ++k)
    feeds_[body_.inputs[k].name] = std::move(inputs[k]);
  for (;;) {
    Made& at = plan_for(state);
    std::map<std::string, Value> made_values;
    try {
      made_values = at.plan->run(feeds_, state.pool);
    } catch (const ShapeDiffers& differs) {
      std::set<std::string> unclaimed = at.unclaimed;
      if (!unclaimed.insert(differs.value).second) BUG("a shape that nobody claims differs");
      at = made(at.shapes, at.types, std::move(unclaimed), state);
      continue;
    }
    std::vector<Value> outputs;
    for (const ValueInfo& output : body_.outputs) outputs.push_back(made_values.at(output.name));
    return outputs;
  }
}

}  // namespace touchstone
