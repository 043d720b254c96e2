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
#include "optimized/plan/device_memory.h"
#include "optimized/plan/large.h"
#include "optimized/plan/plan_memory.h"
#include "optimized/plan/steady.h"
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
      if (output == no_value || !graph.value(output).floats()) continue;
      placed([&] { return place_of(*fact.node, ""); },
             [&] { check_size(Type::float32, *graph.value(output).shape, limits); });
    }
  }
  return graph;
}

}  // namespace

// Estimated bytes of model, facts and steps; transform/optimize/mutable_graph.cc has the
// measurement.
constexpr Index bytes_a_node = 1500;
constexpr Index short_step = 4096;      // in elementary operations
constexpr std::size_t short_steps = 8;  // between two looks at the budget

struct Plan::Impl {
  Impl(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& given)
      : model(model),
        options(given),
        charge(static_cast<Index>(model.graph.nodes.size()) * bytes_a_node),
        graph(model, feeds, given.limits, given.unclaimed),
        builder(within_limits(graph, given.limits), threads, given) {
    const bool checked = options.check_arena || arena_check_chosen();
    builder.build();
    if (options.change) options.change(builder);
    steady = find_steady_steps(builder, checked ? std::set<std::string>() : options.steady);
    arena = rounded(checked ? ArenaCheck::place(builder.spans) : place_spans(builder.spans));
    if (options.device) {
      there = std::make_unique<DeviceMemory>(
          *options.device, builder.device_spans, builder.device_constants,
          [&](Index step, const std::function<void()>& work) {
            placed_step(*builder.steps[static_cast<std::size_t>(step)], work);
          });
    }
    memory =
        std::make_unique<PlanMemory>(builder.spans, builder.constants, arena, options, there.get());
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
    for (Index k = 0; k < std::max<Index>(threads, 1); ++k) {
      scratch_memory.push_back(options.buffers
                                   ? options.buffers(scratch * 4)
                                   : std::shared_ptr<void>(large_memory(scratch + 2 * guard)));
      scratch_of.push_back(static_cast<float*>(scratch_memory.back().get()) + guard);
    }
    if (check) check->watch_scratch(scratch_of, scratch, guard);
    values.resize(graph.values().size());
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
            tensor_at(memory->at(buffer), Type::float32, *fact.shape);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      kept.push_back(!values[k].absent());
      if (!kept.back()) released.push_back(static_cast<Index>(k));
    }
    drops.resize(builder.steps.size());
    for (const auto& [value, step] : builder.last_use) {
      if (step < static_cast<Index>(drops.size()) && !kept[static_cast<std::size_t>(value)])
        drops[static_cast<std::size_t>(step)].push_back(value);
    }
    for (std::size_t k = 0; k < drops.size(); ++k) {
      work.push_back(steps_of(*builder.steps[k]));
      builder.steps[k]->read_last(drops[k]);
    }
    for (const ValueInfo& input : model.graph.inputs) inputs.push_back(graph.find(input.name));
    for (const ValueInfo& output : model.graph.outputs) {
      const Index value = graph.find(output.name);
      const auto buffer = builder.outputs.find(value);
      for (Output& before : outputs) before.moved = before.moved && before.value != value;
      outputs.push_back({value, buffer == builder.outputs.end() ? no_value : buffer->second,
                         !kept[static_cast<std::size_t>(value)], input_of(value)});
    }
  }

  // Returns the position of an input whose copy in the plan's memory is also this output.
  Index input_of(Index output) const {
    const std::map<Index, Index>& plain = builder.plain_buffers();
    const auto made = plain.find(output);
    for (std::size_t k = 0; made != plain.end() && k < inputs.size(); ++k) {
      const auto fed = plain.find(inputs[k]);
      if (fed != plain.end() && fed->second == made->second &&
          graph.value(inputs[k]).shape == graph.value(output).shape)
        return static_cast<Index>(k);
    }
    return no_value;
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

  // An output of the model: its value, and its buffer unless it is a tensor of its own.
  struct Output {
    Index value, buffer;
    bool moved;   // out of the values: nobody reads it later
    Index input;  // position of an input that is the same tensor; nobody if there is none
  };

  Value& held(Index value) { return values[static_cast<std::size_t>(value)]; }
  Value made(const Output& output, const PlanMemory* own);
  void compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
               std::vector<Timing>* timings);
  void run_steps(ThreadPool& pool, std::vector<Timing>* timings, bool repeats);
  // Releases the values that a run made, also if it throws.
  struct Clean {
    Impl& h;
    ~Clean() {
      for (const Index value : h.released) h.held(value).is.emplace<std::monostate>();
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
  std::vector<Index> work;                // of each step
  std::vector<bool> steady;               // steps that a repeated run leaves out
  std::vector<bool> kept;                 // values that stay between runs
  std::vector<Index> released;            // the others
  std::vector<std::vector<Index>> drops;  // values to release after each step
  std::vector<Index> inputs;              // of the model, in its order
  std::vector<Output> outputs;            // likewise
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
  run_steps(pool, timings, false);
}

void Plan::Impl::run_steps(ThreadPool& pool, std::vector<Timing>* timings, bool repeats) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = timings ? Clock::now() : Clock::time_point();
  const auto micro = [&](Clock::time_point at) {
    return std::chrono::duration<double, std::micro>(at - began).count();
  };
  const auto since = [&] { return micro(Clock::now()); };
  if (!options.nested) pool.watch(timings != nullptr);
  std::optional<ThreadPool::Run> run;
  if (!options.nested) run.emplace(pool);
  RunState state{pool, values, scratch_of, options.limits, &options};
  for (std::size_t k = 0; k < builder.steps.size(); ++k) {
    if (repeats && steady[k]) continue;
    const double begin = timings ? since() : 0;
    placed_step(*builder.steps[k], [&] {
      charge_work(work[k]);
      // Short steps of a subgraph do not read the clock each time.
      if (!options.nested || work[k] >= short_step || (k + 1) % short_steps == 0) check_budget();
      if (check) check->before(static_cast<Index>(k));
      builder.steps[k]->run(state);
      if (check) check->after(static_cast<Index>(k), values);
    });
    if (timings) {
      timings->push_back({static_cast<Index>(k), begin, since()});
      for (const ThreadPool::Busy& busy : pool.taken())
        timings->push_back(
            {static_cast<Index>(k), micro(busy.begin), micro(busy.end), busy.thread});
    }
    for (const Index value : drops[k]) held(value) = Value();
  }
  if (check) check->end(values);
}

// Returns an output after a run, outside of the plan's memory.
Value Plan::Impl::made(const Output& output, const PlanMemory* own) {
  if (output.buffer == no_value && own && output.moved && is_outside(held(output.value), *own))
    return std::move(held(output.value));
  if (output.buffer == no_value) return detached(held(output.value), own);
  Tensor copy(Type::float32, *graph.value(output.value).shape);
  if (!copy.bytes().empty())
    std::memcpy(copy.data<float>(), memory->at(output.buffer), copy.bytes().size());
  return copy;
}

std::map<std::string, Value> Plan::run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                       std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  h.compute(feeds, pool, timings);
  std::map<std::string, Value> outputs;
  for (std::size_t k = 0; k < h.outputs.size(); ++k)
    outputs.emplace(h.model.graph.outputs[k].name, h.made(h.outputs[k], nullptr));
  return outputs;
}

void Plan::run_in_order(std::vector<Value>& feeds, std::vector<Value>& outputs, ThreadPool& pool,
                        bool repeats) {
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
    for (std::size_t k = 0; k < feeds.size(); ++k) {
      Value& to = h.held(h.inputs[k]);
      if (k + h.options.steady.size() < feeds.size() && !feeds[k].is_tensor()) {
        to = std::move(feeds[k]);
      } else {
        to = feeds[k];
      }
    }
    h.run_steps(pool, nullptr, repeats);
  }
  outputs.resize(h.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Index same = h.outputs[k].input;
    const bool is_fed =
        same != no_value && is_outside(feeds[static_cast<std::size_t>(same)], *h.memory);
    outputs[k] =
        is_fed ? feeds[static_cast<std::size_t>(same)] : h.made(h.outputs[k], h.memory.get());
  }
}

void Plan::run_into(const std::map<std::string, Value>& feeds,
                    std::map<std::string, Tensor>& outputs, ThreadPool& pool,
                    std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  h.compute(feeds, pool, timings);
  for (auto& [name, output] : outputs) {
    const Index value = h.graph.find(name);
    const auto buffer = h.builder.outputs.find(value);
    if (buffer == h.builder.outputs.end()) {
      const Value& held = h.held(value);
      if (!held.is_tensor())
        throw Error(ErrorKind::usage,
                    "the output '" + name + "' is no tensor: no memory can be bound for it");
      const Tensor& made = held.tensor();
      require_same(name, output, made.type(), made.shape());
      copy_bytes(made.bytes().data(), output);
    } else {
      require_same(name, output, Type::float32, *h.graph.value(value).shape);
      copy_bytes(reinterpret_cast<const std::byte*>(h.memory->at(buffer->second)), output);
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
    for (const Index node : step->nodes) {
      const Node& n = *impl_->graph.node(node).node;
      row.nodes.push_back("'" + (n.name.empty() ? std::to_string(n.index) : n.name) + "' (" + n.op +
                          ")");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Index Plan::arena_bytes() const { return impl_->arena; }
Index Plan::device_bytes() const { return impl_->there ? impl_->there->bytes() : 0; }

}  // namespace touchstone
