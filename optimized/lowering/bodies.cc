// Plans of a subgraph. Later plans leave open a shape that changed between runs: a loop that grows
// a list needs few of them.
#include "optimized/lowering/bodies.h"

#include <algorithm>

#include "core/error.h"
#include "model/bundled.h"
#include "model/scopes.h"
#include "optimized/lowering/half_precision.h"
#include "optimized/threads/pool.h"

namespace touchstone::optimized {
namespace {

// Shapes for which plans are made before one without the value's shape. Fast kernels for float32
// need shapes, others do not.
constexpr std::size_t most_shapes = 6, most_shapes_of_lists = 1;
constexpr std::size_t most_plans = most_shapes + 1;

// Runs the passes on a body as its plan is made for: every fact holds for these feeds.
Model optimized(const Model& body, const transform::FedShapes& shapes,
                const transform::PassOptions& options) {
  transform::PassOptions own = options;
  own.draws = own.checked = false;
  own.fed = {shapes};
  try {
    Model made = transform::optimize(body, own).model;
    if (own.level >= transform::Level::extended) made = lower_half_precision(std::move(made), own);
    return made;
  } catch (const Error& error) {  // not an error here: the run reports it
    if (error.kind == ErrorKind::internal) throw;
    check_budget();
    return body;
  }
}

}  // namespace

BodyPlans::BodyPlans(const AnalyzedGraph& outer, const Graph& body, bool repeats)
    : outer_(outer), body_(body), repeats_(repeats) {
  for (const std::string& name : captured_names(body)) {
    const Index value = outer.find(name);
    if (value == no_value) BUG("a body captures what its graph does not hold");
    if (outer.value(value).constant) {
      constants_.push_back(name);
    } else {
      captured_.push_back(value);
    }
  }
  feeds_.resize(body.inputs.size() + captured_.size());
  seen_.resize(feeds_.size());
}

void BodyPlans::begin() {
  std::fill(feeds_.begin(), feeds_.end(), Value());
  runs_ = 0;
  ++round_;
}

std::vector<Plan*> BodyPlans::plans() {
  std::vector<Plan*> all;
  for (Made& made : plans_) all.push_back(made.plan.get());
  return all;
}

const std::string& BodyPlans::name_of(std::size_t feed) const {
  const std::size_t inputs = body_.inputs.size();
  return feed < inputs ? body_.inputs[feed].name : outer_.value(captured_[feed - inputs]).name;
}

// The body as a model of its own: captured constants are initializers, other captured values are
// inputs.
Model BodyPlans::written(const std::vector<Fed>& feeds) const {
  Model model;
  model.ir_version = std::max<Index>(outer_.model().ir_version, 4);  // constants are no inputs
  model.opsets = outer_.model().opsets;
  model.functions = outer_.model().functions;
  model.graph = body_;
  model.graph.values.clear();
  for (ValueInfo& output : model.graph.outputs) output.type.reset(), output.shape.reset();
  for (const std::string& name : constants_)
    model.graph.initializers.emplace(name, *outer_.value(outer_.find(name)).constant);
  model.graph.inputs.resize(feeds.size());
  for (std::size_t k = 0; k < feeds.size(); ++k) {
    ValueInfo& input = model.graph.inputs[k];
    input.name = name_of(k);
    input.type = feeds[k].type;
    input.shape.reset();
    model.graph.initializers.erase(input.name);  // what is fed is no constant
    model.graph.sparse_initializers.erase(input.name);
  }
  return model;
}

BodyPlans::Made BodyPlans::made(std::vector<Fed> feeds, std::set<std::string> unclaimed,
                                const RunState& state) const {
  transform::FedShapes shapes;
  for (std::size_t k = 0; k < feeds.size(); ++k) {
    if (feeds[k].shape) shapes.emplace(name_of(k), *feeds[k].shape);
  }
  Model model = written(feeds);
  PlanOptions options = *state.options;
  if (!is_bundle && options.passes) model = optimized(model, shapes, *options.passes);
  options.unclaimed = unclaimed;
  options.lent = lent_;
  options.steady.clear();
  for (std::size_t k = body_.inputs.size(); repeats_ && k < feeds.size(); ++k)
    options.steady.insert(name_of(k));
  options.device = nullptr;
  options.host = options.nested = true;
  options.change = nullptr;
  options.outputs = nullptr;
  options.arena = nullptr;  // the outer plan is using it
  options.prover = nullptr;
  auto held = std::make_unique<const Model>(std::move(model));
  auto plan = std::make_unique<Plan>(*held, shapes, state.pool.size(), options);
  return {std::move(feeds), std::move(unclaimed), std::move(held), std::move(plan)};
}

std::vector<BodyPlans::Fed> BodyPlans::known_feeds() {
  std::vector<Fed> known;
  for (std::size_t k = 0; k < feeds_.size(); ++k) {
    known.push_back({feeds_[k].type(), std::nullopt});
    if (!feeds_[k].is_tensor()) continue;
    const Tensor& tensor = feeds_[k].tensor();
    std::vector<Shape>& seen = seen_[k];
    const std::size_t most = tensor.type() == Type::float32 ? most_shapes : most_shapes_of_lists;
    if (seen.size() > most) continue;
    if (std::find(seen.begin(), seen.end(), tensor.shape()) == seen.end())
      seen.push_back(tensor.shape());
    if (seen.size() <= most) known.back().shape = tensor.shape();
  }
  return known;
}

// True if the plan takes the values that are fed now.
bool BodyPlans::fits(const Made& made) const {
  for (std::size_t k = 0; k < feeds_.size(); ++k) {
    const Fed& fed = made.feeds[k];
    const auto* tensor = std::get_if<Tensor>(&feeds_[k].is);
    if (tensor == nullptr) {
      if (fed.shape || !(fed.type == feeds_[k].type())) return false;
    } else if (fed.type.kind != ValueType::Kind::tensor || fed.type.element != tensor->type() ||
               (fed.shape && !(*fed.shape == tensor->shape()))) {
      return false;
    }
  }
  return true;
}

BodyPlans::Made& BodyPlans::plan_for(const RunState& state) {
  if (!plans_.empty() && fits(plans_.front())) return plans_.front();
  std::vector<Fed> feeds = known_feeds();
  for (auto at = plans_.begin(); at != plans_.end(); ++at) {
    if (at->feeds == feeds) {
      plans_.splice(plans_.begin(), plans_, at);
      return plans_.front();
    }
  }
  plans_.push_front(made(std::move(feeds), {}, state));
  if (plans_.size() > most_plans) plans_.pop_back();
  return plans_.front();
}

void BodyPlans::run(std::vector<Value>& outputs, RunState& state) {
  if (runs_++ == 0) {
    for (std::size_t k = 0; k < captured_.size(); ++k)
      feeds_[body_.inputs.size() + k] = state.values[static_cast<std::size_t>(captured_[k])];
  }
  for (;;) {
    Made& at = plan_for(state);
    try {
      at.plan->run_in_order(feeds_, outputs, state.pool, std::exchange(at.round, 0) == round_);
      at.round = round_;
      return;
    } catch (const ShapeDiffers& differs) {
      std::set<std::string> unclaimed = at.unclaimed;
      if (!unclaimed.insert(differs.value).second) BUG("a shape that nobody claims differs");
      at = made(at.feeds, std::move(unclaimed), state);
      if (std::any_of(feeds_.begin(), feeds_.end(), [](const Value& fed) { return fed.absent(); }))
        throw BodyFailed{};  // a feed is gone: the next run takes the new plan
    }
  }
}

}  // namespace touchstone::optimized
