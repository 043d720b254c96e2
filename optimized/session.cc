// Makes plans for the shapes of feeds and caches the most recent ones. If a model leaves no size
// open, plans at construction.
#include "optimized/session.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "core/error.h"
#include "optimized/run_slots.h"
#include "optimized/session_log.h"
#include "reference/feeds.h"

namespace touchstone::optimized {

namespace {

constexpr std::size_t max_plans = 16;  // of the most recent shapes
constexpr std::size_t max_fed = 8;     // shapes for which the passes' assumptions must hold

using Shapes = transform::FedShapes;

Shapes shapes_of(const std::map<std::string, Value>& feeds) {
  Shapes shapes;
  for (const auto& [name, value] : feeds) {
    if (value.is_tensor()) shapes.emplace(name, value.tensor().shape());
  }
  return shapes;
}

// True if an input may be fed with several shapes, or be left to its default.
bool may_differ(const Graph& graph, const std::optional<Shapes>& only) {
  return !only || std::any_of(graph.inputs.begin(), graph.inputs.end(),
                              [&](const ValueInfo& input) { return !only->contains(input.name); });
}

// Returns the number of runs at the same time. Devices run one plan after the other.
std::size_t slots_for(const SessionOptions& options, bool on_device) {
  constexpr Index least = 4, most = 1024;
  if (on_device) return 1;
  const Index wanted = options.concurrent_runs;
  return static_cast<std::size_t>(
      std::min(most, wanted > 0 ? wanted : std::max(least, threads_available())));
}

bool lacks_memory(const Error& error) {
  return error.kind == ErrorKind::out_of_memory || error.rule == "limit/memory";
}

// Converts allocation failures between steps to Error, without a place; steps name their node
// themselves.
template <class F>
auto within_memory(F work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "there is not enough memory");
  } catch (const std::length_error&) {
    throw Error(ErrorKind::out_of_memory, "more is asked for than memory can hold");
  }
}

}  // namespace

struct Session::Impl {
  struct Devices {
    std::shared_ptr<backends::Device> first;  // null: the processor
    bool host = false;                        // true if the processor is in the list
  };

  Impl(Model given, const SessionOptions& options)
      : options(options),
        devices(open_devices(options)),
        pool(options.threads, true, options.executor),
        slots(slots_for(options, devices.first != nullptr)) {
    const std::optional<Shapes> shapes = only_shapes(given.graph);
    if (may_differ(given.graph, shapes)) written = given;
    if (shapes) fed.push_back(*shapes);
    first = last = optimized_model(std::move(given), options, fed, !shapes, written.has_value(),
                                   pool, written ? &*written : nullptr);
    check_budget();
    if (!shapes) return;
    const LimitsScope scope(options.limits);
    try {
      plan_for(slots.first(), *shapes);
    } catch (const Error&) {  // the run fails likewise, and reports it
      check_budget();
    }
  }

  static Devices open_devices(const SessionOptions& options) {
    std::vector<std::string> names;
    std::istringstream parts(options.devices);
    for (std::string part; std::getline(parts, part, ',');) names.push_back(part);
    if (names.empty()) throw Error(ErrorKind::usage, "the list of devices is empty");
    if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
      throw Error(ErrorKind::usage, "'" + options.devices + "' names a device twice");
    Devices made;
    for (const std::string& name : names) {
      if (made.first && name != "cpu")
        throw Error(ErrorKind::unsupported, "a session takes one device beside the processor");
      if (name == "cpu") {
        made.host = true;
      } else if (std::shared_ptr<backends::Device> device = options.open(name); !made.host) {
        made.first = std::move(device);
      }
    }
    return made;
  }

  // Returns the threads of a run in this slot.
  ThreadPool& pool_of(RunSlot& slot) {
    if (&slot == &slots.first()) return pool;
    if (!slot.own) slot.own.emplace(pool.size(), false);
    return *slot.own;
  }

  // Must be called with `planning` locked.
  MadePlan made(RunSlot& slot, const Shapes& shapes, const std::set<std::string>& unclaimed,
                std::shared_ptr<SessionModel> model) {
    PlanOptions wanted{.fuse = options.passes.level >= transform::Level::extended,
                       .winograd = options.winograd,
                       .limits = options.limits,
                       .unclaimed = unclaimed,
                       .buffers = options.buffers,
                       .device = devices.first,
                       .host = devices.host,
                       .helped = &slot == &slots.first(),
                       .weights = model->weights,
                       .arena = slot.arena,
                       .outputs = slot.outputs,
                       .prover = &model->prover,
                       .passes = passes,
                       .timed = options.timings};
    auto plan = std::make_unique<Plan>(model->model, shapes, pool.size(), wanted);
    return {shapes, unclaimed, std::move(model), std::move(plan)};
  }

  // Returns the model of earlier plans for these shapes: other passes might round differently, and
  // the same inputs shall have the same outputs. Must be called with `planning` locked.
  std::shared_ptr<SessionModel> model_for(const Shapes& shapes, ThreadPool& threads) {
    const auto earlier = std::find_if(planned.begin(), planned.end(),
                                      [&](const auto& each) { return each.first == shapes; });
    if (earlier != planned.end()) {
      planned.splice(planned.begin(), planned, earlier);
    } else {
      planned.emplace_front(shapes, new_model_for(shapes, threads));
      if (planned.size() > max_plans) planned.pop_back();
    }
    return planned.front().second;
  }

  // Returns the optimized model if all of its assumptions hold for these shapes. Otherwise it
  // optimizes anew, and keeps the last few such shapes, for which assumptions must hold from then
  // on. Shapes that choose branches are kept alone: others may choose differently.
  const std::shared_ptr<SessionModel>& new_model_for(const Shapes& shapes, ThreadPool& threads) {
    if (std::find(fed.begin(), fed.end(), shapes) != fed.end()) return last;
    const bool chooses = written && last->determine_branch(shapes);
    if (last->holds_for(shapes) && !chooses) return last;
    if (!written) BUG("a model of one shape is fed with another");
    if (chooses || last->relies_on_condition()) fed.clear();
    if (fed.size() == max_fed) fed.erase(fed.begin());
    fed.push_back(shapes);
    last = optimized_model(*written, options, fed, true, true, threads);
    return last;
  }

  // Returns the shapes of the slot's latest plan if the feeds have them, without copying one.
  static const Shapes* latest_shapes(const RunSlot& slot,
                                     const std::map<std::string, Value>& feeds) {
    if (slot.plans.empty()) return nullptr;
    const auto alike = [](const auto& shape, const auto& feed) {
      return feed.second.is_tensor() && shape.second == feed.second.tensor().shape() &&
             shape.first == feed.first;
    };
    const Shapes& shapes = slot.plans.front().shapes;
    return std::equal(shapes.begin(), shapes.end(), feeds.begin(), feeds.end(), alike) ? &shapes
                                                                                       : nullptr;
  }

  MadePlan& plan_for(RunSlot& slot, const Shapes& shapes) {
    std::list<MadePlan>& plans = slot.plans;
    if (!plans.empty() && &plans.front().shapes == &shapes) return plans.front();
    for (auto at = plans.begin(); at != plans.end(); ++at) {
      if (at->shapes == shapes) {
        plans.splice(plans.begin(), plans, at);
        return plans.front();
      }
    }
    const Index growths = slot.arena->growths();
    {
      const std::lock_guard lock(planning);
      plans.push_front(made(slot, shapes, {}, model_for(shapes, pool_of(slot))));
    }
    if (&slot == &slots.first()) log_slow_nodes(*plans.front().plan);
    const bool grown = slot.arena->growths() != growths;  // older plans hold the smaller arena
    while (plans.size() > (grown ? 1 : max_plans)) {
      const std::shared_ptr<SessionModel> evicted = plans.back().model;
      plans.pop_back();
      evicted->weights->release_unused();
    }
    return plans.front();
  }

  // Runs a plan. If a value's shape differs from the inferred one, plans and runs again without
  // that shape and those that depend on it; these nodes then accept any shape.
  template <class F>
  auto run(RunSlot& slot, const Shapes& shapes, F&& with) {
    MadePlan& at = plan_for(slot, shapes);
    for (;;) {
      slot.timings.clear();
      try {
        return with(*at.plan, pool_of(slot), options.timings ? &slot.timings : nullptr);
      } catch (const ShapeDiffers& differs) {
        std::set<std::string> unclaimed = at.unclaimed;
        if (!unclaimed.insert(differs.value).second) BUG("a shape that nobody claims differs");
        const std::lock_guard lock(planning);
        at = made(slot, at.shapes, unclaimed, at.model);
      }
    }
  }

  // Calls work(slot) with a slot of its own. What lacks memory beside other runs is done again
  // alone.
  template <class F>
  auto in_slot(F&& work) {
    const LimitsScope scope(options.limits);
    const Budget budget(options.limits, options.cancel, account);
    const auto once = [&] {
      const RunSlots::Held held(slots);
      return within_memory([&] { return work(held.slot()); });
    };
    try {
      return once();
    } catch (const Error& error) {
      if (!lacks_memory(error) || !slots.keep_one()) throw;
    }
    return once();
  }

  // Returns what `ask` finds in the slot of the last run, in which no run is then.
  template <class F>
  auto of_last(F&& ask) {
    const RunSlots::Held held(slots, slots.latest());
    return ask(held.slot());
  }

  // Account of the session and its runs; the constructor's caller has opened a budget.
  const std::shared_ptr<MemoryAccount> account = current_budget()->account();
  const SessionOptions options;
  const Devices devices;
  const std::shared_ptr<const transform::PassOptions> passes = passes_of(options);  // for subgraphs
  ThreadPool pool;  // of the first slot
  // Model before passes; nullopt if only one set of shapes is possible.
  std::optional<Model> written;
  RunLock planning;         // guards `fed`, `last`, `planned` and the provers of models
  std::vector<Shapes> fed;  // shapes for which all assumptions of `last` hold
  std::shared_ptr<SessionModel> first, last;
  std::list<std::pair<Shapes, std::shared_ptr<SessionModel>>> planned;  // of the latest shapes
  RunSlots slots;
};

Session::Session(Model model, const SessionOptions& options)
    : impl_(within_memory([&] {
        const Budget budget(options.limits, options.cancel);
        return std::make_unique<Impl>(with_sizes(std::move(model), options.dims), options);
      })) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Model& Session::model() const { return impl_->first->model; }

std::map<std::string, Value> Session::run(const std::map<std::string, Value>& feeds) {
  return impl_->in_slot([&](RunSlot& slot) {
    check_feeds(impl_->first->model.graph, feeds);
    const auto on_plan = [&](Plan& plan, ThreadPool& pool, std::vector<Timing>* timings) {
      std::map<std::string, Value> outputs = plan.run(feeds, pool, timings);
      log_fallbacks(plan);
      return outputs;
    };
    const Shapes* const latest = Impl::latest_shapes(slot, feeds);
    return latest ? impl_->run(slot, *latest, on_plan)
                  : impl_->run(slot, shapes_of(feeds), on_plan);
  });
}

Session::Bound Session::bind(std::map<std::string, Value> feeds,
                             std::map<std::string, Tensor> outputs) {
  const LimitsScope scope(impl_->options.limits);
  const std::vector<ValueInfo>& there = impl_->first->model.graph.outputs;
  check_feeds(impl_->first->model.graph, feeds);
  for (const auto& [name, tensor] : outputs) {
    const bool known =
        std::any_of(there.begin(), there.end(),
                    [&, &wanted = name](const ValueInfo& output) { return output.name == wanted; });
    if (!known) throw Error(ErrorKind::usage, "there is no output '" + name + "'");
    if (tensor.type() == Type::string || tensor.type() == Type::undefined)
      throw Error(ErrorKind::usage, "memory for the output '" + name + "' has no bytes");
  }
  return {*impl_, std::move(feeds), std::move(outputs)};
}

Session::Bound::Bound(Impl& held, std::map<std::string, Value> feeds,
                      std::map<std::string, Tensor> outputs)
    : impl_(&held),
      one_run_(std::make_unique<RunLock>()),
      feeds_(std::move(feeds)),
      shapes_(shapes_of(feeds_)),
      outputs_(std::move(outputs)) {}
Session::Bound::Bound(Bound&&) noexcept = default;
Session::Bound::~Bound() = default;

void Session::Bound::run() {
  const std::lock_guard lock(*one_run_);
  impl_->in_slot([&](RunSlot& slot) {
    impl_->run(slot, shapes_, [&](Plan& plan, ThreadPool& pool, std::vector<Timing>* timings) {
      plan.run_into(feeds_, outputs_, pool, timings);
      log_fallbacks(plan);
    });
  });
}

bool Session::keeps(const Tensor& output) const { return impl_->slots.keep(output); }

std::vector<Placement> Session::placement() const {
  return impl_->of_last([](const RunSlot& slot) {
    return slot.plans.empty() ? std::vector<Placement>{} : slot.plans.front().plan->placement();
  });
}

std::vector<NodePlacement> Session::kernels() const {
  const LimitsScope scope(impl_->options.limits);
  const Budget budget(impl_->options.limits, impl_->options.cancel);
  return impl_->of_last([](const RunSlot& slot) {
    return slot.plans.empty() ? std::vector<NodePlacement>{} : slot.plans.front().plan->kernels();
  });
}

std::vector<NodePlacement> Session::kernels_for(const std::map<std::string, Shape>& shapes) {
  return impl_->in_slot([&](RunSlot& slot) {
    const Graph& graph = impl_->first->model.graph;
    for (const ValueInfo& input : graph.inputs) {
      const bool is_tensor = !input.type || input.type->kind == ValueType::Kind::tensor;
      if (is_tensor && !shapes.contains(input.name) && !graph.initializers.contains(input.name) &&
          !graph.sparse_initializers.contains(input.name))
        throw Error(ErrorKind::usage, "the input '" + input.name + "' has no known shape");
    }
    check_shapes(graph, shapes);
    return impl_->plan_for(slot, shapes).plan->kernels();
  });
}

std::vector<Timing> Session::timings() const {
  return impl_->of_last([](const RunSlot& slot) { return slot.timings; });
}

Index Session::device_bytes() const {
  return impl_->of_last([](const RunSlot& slot) {
    return slot.plans.empty() ? 0 : slot.plans.front().plan->device_bytes();
  });
}

Index Session::arena_bytes() const {
  return impl_->of_last([](const RunSlot& slot) {
    return slot.plans.empty() ? 0 : slot.plans.front().plan->arena_bytes();
  });
}

}  // namespace touchstone::optimized
