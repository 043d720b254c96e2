// Owns a plan's memory and runs its steps; values that a run made are released before the next.
#include "optimized/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/budget_watch.h"
#include "core/error.h"
#include "core/placement.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "optimized/plan/arena_check.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/cost.h"
#include "optimized/plan/node_placement.h"
#include "optimized/plan/plan_memory.h"
#include "reference/feeds.h"

namespace touchstone {
namespace {

// Checks an output against the tensor that the caller bound for it.
void require_same(const std::string& name, const Tensor& bound, Type type, const Shape& shape) {
  if (bound.type() == type && bound.shape() == shape) return;
  throw Error(ErrorKind::usage,
              "the output '" + name + "' is " + std::string(touchstone::name(type)) + text(shape) +
                  ", but memory is bound for " + std::string(touchstone::name(bound.type())) +
                  text(bound.shape()));
}

const std::byte* bytes_at(const float* memory) {
  return reinterpret_cast<const std::byte*>(memory);
}

void copy_bytes(const std::byte* from, Tensor& to) {
  const std::span<std::byte> scratch = to.bytes();
  if (!scratch.empty()) std::memcpy(scratch.data(), from, scratch.size());
}

// "float[1,3,224,224]", as far as known.
std::string described(const AnalyzedValue& fact) {
  const bool tensor = fact.type && fact.type->kind == ValueType::Kind::tensor;
  const std::string what = !fact.type ? "?"
                           : tensor   ? std::string(name(fact.type->element))
                                      : text(*fact.type);
  return what + (fact.shape ? text(*fact.shape) : "");
}

Index rounded(Index bytes) { return (bytes + 63) / 64 * 64; }

// Checks that no node's output exceeds the limits, whatever kernel runs it.
const AnalyzedGraph& within_limits(const AnalyzedGraph& graph, const Limits& limits) {
  for (const AnalyzedNode& fact : graph.nodes()) {
    for (const Index output : fact.outputs) {
      if (output == no_value || !graph.value(output).placeable()) continue;
      const AnalyzedValue& made = graph.value(output);
      placed([&] { return place_of(*fact.node, ""); },
             [&] { check_size(made.type->element, *made.shape, limits); });
    }
  }
  return graph;
}

}  // namespace

// Estimated bytes of model, facts and steps; transform/optimize/mutable_graph.cc has the
// measurement.
constexpr Index bytes_a_node = 1500;

struct Plan::Impl {
  Impl(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& given)
      : model(model),
        options(given),
        charge(static_cast<Index>(model.graph.nodes.size()) * bytes_a_node),
        graph(model, feeds, given.limits, given.unclaimed, given.weights, given.prover),
        builder(within_limits(graph, given.limits), threads, given) {
    const bool checked = options.check_arena || arena_check_chosen();
    builder.build();
    if (options.change) options.change(builder);
    arena = rounded(checked ? ArenaCheck::place(builder.spans) : place_spans(builder.spans));
    if (options.device) {
      there = std::make_unique<DeviceMemory>(
          *options.device, builder.device_spans, builder.device_constants,
          [&](Index step, const std::function<void()>& work) {
            placed_step(*builder.steps[static_cast<std::size_t>(step)], work);
          });
    }
    SharedArena own;
    SharedArena& shared = options.arena && !checked ? *options.arena : own;
    memory = std::make_unique<PlanMemory>(builder.spans, builder.constants, arena,
                                          options.buffers ? nullptr : shared.get(0, arena / 4),
                                          options, there.get());
    if (checked) check = std::make_unique<ArenaCheck>(builder, *memory, memory->areas(arena));
    Index scratch = 0;
    BudgetWatch watch;
    for (std::size_t k = 0; k < builder.steps.size(); ++k, watch.step()) {
      Step& step = *builder.steps[k];
      placed_step(step, [&] { check ? check->bind(static_cast<Index>(k)) : step.bind(*memory); });
      scratch = std::max(scratch, step.scratch());
    }
    PrefetchHint prefetch;
    for (auto step = builder.steps.rbegin(); step != builder.steps.rend(); ++step) {
      (*step)->precede(prefetch);
      if (const PrefetchHint own = (*step)->weights(); own.size > 0) prefetch = own;
    }
    const Index guard = check && !options.buffers ? ArenaCheck::guard_floats : 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(std::max<Index>(threads, 1)); ++k) {
      if (options.buffers) {
        scratch_memory.push_back(options.buffers(scratch * 4));
      } else {
        const auto memory_of_thread = shared.get(k + 1, scratch + 2 * guard);
        scratch_memory.emplace_back(memory_of_thread, memory_of_thread->get());
      }
      scratch_of.push_back(static_cast<float*>(scratch_memory.back().get()) + guard);
    }
    if (check) check->watch_scratch(scratch_of, scratch, guard);
    values.resize(graph.values().size());
    drops.resize(builder.steps.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const AnalyzedValue& fact = graph.values()[k];
      if (fact.constant) values[k] = *fact.constant;
    }
    for (const auto& [name, sparse] : model.graph.sparse_initializers) {
      if (const Index k = graph.find(name); k != no_value)
        values[static_cast<std::size_t>(k)] = dense(sparse);
    }
    for (const auto& [value, buffer] : builder.tensors) {
      const AnalyzedValue& fact = graph.value(value);
      if (!fact.constant)
        values[static_cast<std::size_t>(value)] =
            tensor_at(memory->at(buffer), fact.type->element, *fact.shape);
    }
    for (const auto& [name, shape] : feeds) {  // a run reads what is fed
      if (const Index k = graph.find(name); k != no_value) held(k) = {};
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].absent()) passing.push_back(static_cast<Index>(k));
    }
    for (const auto& [value, step] : builder.last_use) {
      if (step < static_cast<Index>(drops.size()) && !builder.tensors.contains(value) &&
          values[static_cast<std::size_t>(value)].absent())
        drops[static_cast<std::size_t>(step)].push_back(value);
    }
    for (const ValueInfo& input : model.graph.inputs) inputs.push_back(graph.find(input.name));
    spent.resize(builder.steps.size());
    list_outputs();
    weigh_steps();
  }

  void list_outputs() {
    for (const ValueInfo& output : model.graph.outputs) {
      const Index value = graph.find(output.name);
      const auto buffer = builder.outputs.find(value);
      for (auto& [name, before] : outputs) before.moved = before.moved && before.value != value;
      Output& made = outputs[output.name];
      made.value = value;
      made.moved = held(value).absent();
      if (buffer != builder.outputs.end()) made.memory = bytes_at(memory->at(buffer->second));
      outputs_in_order.push_back(&made);
    }
  }

  // Decides before which steps a run looks at its budget: the first one, and after about every
  // 20 microseconds of work.
  void weigh_steps() {
    constexpr double between_looks = 20e3, a_byte = 0.1;
    double since = options.nested ? 0 : between_looks;  // a body's caller has just looked
    for (const std::unique_ptr<Step>& step : builder.steps) {
      work.push_back(steps_of(*step));
      looks.push_back(since >= between_looks);
      if (looks.back()) since = 0;
      const double nanoseconds =
          nanoseconds_of(graph, step->nodes) + a_byte * static_cast<double>(step->moved());
      wakes = wakes || nanoseconds > RunState::worth_waking;
      since += step->kernel == "reference" ? between_looks : nanoseconds;
    }
  }

  // Returns the elementary operations charged per run; reference kernels charge their own.
  Index steps_of(const Step& step) const {
    if (step.kernel == "reference") return 1;
    return 1 + cost_of(graph, step.nodes).flop / 2;
  }

  std::string place(Index node) const { return place_of(*graph.node(node).node, ""); }

  template <class F>
  void placed_step(const Step& step, F&& work) const {
    const Index node = step.nodes.empty() ? step.about : step.nodes.front();
    try {
      work();
    } catch (Error& error) {
      if (error.place.empty() && node != no_value) error.place = place(node);
      throw;
    } catch (const std::bad_alloc&) {
      Error error(ErrorKind::out_of_memory, "there is not enough memory");
      if (node != no_value) error.place = place(node);
      throw error;
    }
  }

  struct Output {
    Index value = no_value;
    const std::byte* memory = nullptr;  // null: a tensor of its own
    bool moved = false;                 // out of the values: nobody reads it later
  };

  Value& held(Index value) { return values[static_cast<std::size_t>(value)]; }
  Value made(const Output& output, const PlanMemory* own);
  void compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
               std::vector<Timing>* timings);
  // Forgets the times of the last run; a run of the main graph runs plans of subgraphs many times.
  void forget_times() {
    for (std::size_t k = 0; k < spent.size(); ++k) {
      spent[k] = 0;
      for (const auto& [name, plan] : builder.steps[k]->plans()) plan->impl_->forget_times();
    }
  }
  void run_steps(ThreadPool& pool, std::vector<Timing>* timings);
  // Releases the values that a run made, also if it throws.
  struct Clean {
    Impl& h;
    ~Clean() {
      for (const Index value : h.passing) h.values[static_cast<std::size_t>(value)].is = {};
    }
  };

  const Model& model;
  const PlanOptions options;
  const Charge charge;
  const AnalyzedGraph graph;
  Builder builder;
  Index arena = 0;
  std::unique_ptr<DeviceMemory> there;  // on a device
  std::unique_ptr<PlanMemory> memory;
  std::vector<std::shared_ptr<void>> scratch_memory;  // one per thread
  std::vector<float*> scratch_of;
  std::unique_ptr<ArenaCheck> check;  // null: steps are trusted
  std::vector<Value> values;
  std::vector<Index> passing;             // values that are released when a run ends
  std::vector<Index> work;                // of each step
  std::vector<double> spent;              // microseconds of each step in the last run, if timed
  std::vector<char> looks;                // true before each step that looks at the budget
  bool wakes = false;                     // a step may divide its work among the threads
  std::vector<std::vector<Index>> drops;  // values to release after each step
  std::vector<Index> inputs;              // of the model, in its order
  std::map<std::string, Output> outputs;
  std::vector<const Output*> outputs_in_order;  // of the model
};

Plan::Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
           const PlanOptions& options)
    : impl_(std::make_unique<Impl>(model, feeds, threads, options)) {}
Plan::~Plan() = default;

void Plan::Impl::compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                         std::vector<Timing>* timings) {
  for (const auto& [name, value] : feeds) {
    if (const Index k = graph.find(name); k != no_value) held(k) = value;
  }
  if (check) check->begin(feeds);
  run_steps(pool, timings);
}

void Plan::Impl::run_steps(ThreadPool& pool, std::vector<Timing>* timings) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = timings ? Clock::now() : Clock::time_point();
  const auto micro = [&](Clock::time_point at) {
    return std::chrono::duration<double, std::micro>(at - began).count();
  };
  const auto since = [&] { return micro(Clock::now()); };
  if (!options.nested) pool.watch(timings != nullptr);
  const ThreadPool::Run run(pool, wakes && !options.nested);
  RunState state{pool, values, scratch_of, options.limits, &options};
  const bool timed = timings != nullptr || options.timed;
  if (options.timed && !options.nested) forget_times();
  for (std::size_t k = 0; k < builder.steps.size(); ++k) {
    const double begin = timed ? since() : 0;
    placed_step(*builder.steps[k], [&] {
      charge_work(work[k]);
      if (looks[k]) check_budget();
      if (check) check->before(static_cast<Index>(k));
      builder.steps[k]->run(state);
      if (check) check->after(static_cast<Index>(k), values);
    });
    const double end = timed ? since() : 0;
    spent[k] += end - begin;
    if (timings) {
      timings->push_back({static_cast<Index>(k), begin, end});
      for (const ThreadPool::Busy& busy : pool.taken())
        timings->push_back(
            {static_cast<Index>(k), micro(busy.begin), micro(busy.end), busy.thread});
    }
    for (const Index value : drops[k]) values[static_cast<std::size_t>(value)].is = {};
  }
  if (check) check->end(values);
}

// Returns an output after a run, outside of the plan's memory.
Value Plan::Impl::made(const Output& output, const PlanMemory* own) {
  if (output.memory == nullptr && own && output.moved && is_outside(held(output.value), *own))
    return std::move(held(output.value));
  if (output.memory == nullptr) return detached(held(output.value), own);
  const AnalyzedValue& fact = graph.value(output.value);
  Tensor copy(fact.type->element, *fact.shape);
  copy_bytes(output.memory, copy);
  return copy;
}

std::map<std::string, Value> Plan::run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                       std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  h.compute(feeds, pool, timings);
  std::map<std::string, Value> outputs;
  for (const auto& [name, output] : h.outputs)
    outputs.emplace_hint(outputs.end(), name, h.made(output, nullptr));
  return outputs;
}

void Plan::run_in_order(const std::vector<Value>& feeds, std::vector<Value>& outputs,
                        ThreadPool& pool) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  if (feeds.size() != h.inputs.size()) BUG("a plan is fed other values than its inputs");
  if (h.check) {
    std::map<std::string, Value> named;
    for (std::size_t k = 0; k < feeds.size(); ++k)
      named.emplace(h.model.graph.inputs[k].name, feeds[k]);
    h.compute(named, pool, nullptr);
  } else {
    for (std::size_t k = 0; k < feeds.size(); ++k) h.held(h.inputs[k]) = feeds[k];
    h.run_steps(pool, nullptr);
  }
  outputs.resize(h.outputs_in_order.size());
  for (std::size_t k = 0; k < outputs.size(); ++k)
    outputs[k] = h.made(*h.outputs_in_order[k], h.memory.get());
}

void Plan::run_into(const std::map<std::string, Value>& feeds,
                    std::map<std::string, Tensor>& outputs, ThreadPool& pool,
                    std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  h.compute(feeds, pool, timings);
  for (auto& [name, bound] : outputs) {
    const Impl::Output& output = h.outputs.at(name);
    if (output.memory == nullptr) {
      const Value& held = h.held(output.value);
      if (!held.is_tensor())
        throw Error(ErrorKind::usage,
                    "the output '" + name + "' is no tensor: no memory can be bound for it");
      const Tensor& made = held.tensor();
      require_same(name, bound, made.type(), made.shape());
      copy_bytes(made.bytes().data(), bound);
    } else {
      const AnalyzedValue& fact = h.graph.value(output.value);
      require_same(name, bound, fact.type->element, *fact.shape);
      copy_bytes(output.memory, bound);
    }
  }
}

std::vector<Placement> Plan::placement() const {
  std::vector<Placement> rows;
  for (const std::unique_ptr<Step>& step : impl_->builder.steps) {
    Placement row{{}, step->kernel, step->kernel_class, {}, {}, step->moved()};
    const AnalyzedGraph& graph = impl_->graph;
    const Cost cost = cost_of(graph, step->nodes);
    for (const Index value : cost.reads) row.reads.push_back(described(graph.value(value)));
    for (const Index value : cost.writes) row.writes.push_back(described(graph.value(value)));
    row.bytes += cost.bytes;
    row.flop = cost.flop;
    for (const Index node : step->nodes) row.nodes.push_back(label_of(*graph.node(node).node));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<NodePlacement> Plan::kernels() const {
  return place_nodes(impl_->graph, impl_->builder.steps, impl_->spent, impl_->options.limits);
}

Index Plan::arena_bytes() const { return impl_->arena; }
Index Plan::device_bytes() const { return impl_->there ? impl_->there->bytes() : 0; }

}  // namespace touchstone
