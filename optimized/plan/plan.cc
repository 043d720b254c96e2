// Makes a plan: its steps, their memory, and what a run does before and after them.
#include "optimized/plan/plan.h"

#include <algorithm>
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
#include "optimized/plan/node_placement.h"
#include "optimized/plan/plan_impl.h"
#include "optimized/plan/steady.h"
#include "reference/feeds.h"

namespace touchstone::optimized {
namespace {

const std::byte* bytes_at(const float* memory) {
  return reinterpret_cast<const std::byte*>(memory);
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

Plan::Impl::Impl(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
                 const PlanOptions& given)
    : model(model),
      options(given),
      charge(static_cast<Index>(model.graph.nodes.size()) * bytes_a_node),
      graph(model, feeds, given),
      builder(within_limits(graph, given.limits), threads, given) {
  const bool checked = options.check_arena || arena_check_chosen();
  builder.build();
  graph.weights().release_scratch();
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
  if (!checked && !options.device && !options.nested) {
    constexpr Index least = 32 * 1024;
    caller = std::make_unique<CallerMemory>(builder, *memory, options.buffers ? 1 : least);
  }
  PrefetchHint prefetch;
  for (auto step = builder.steps.rbegin(); step != builder.steps.rend(); ++step) {
    (*step)->precede(prefetch);
    if (const PrefetchHint own = (*step)->weights(); own.size > 0) prefetch = own;
  }
  const Index guard = check && !options.buffers ? ArenaCheck::guard_floats : 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(std::max<Index>(threads, 1)); ++k) {
    if (k > 0 && !options.helped) {  // no run uses these
      scratch_of.push_back(scratch_of.front());
      continue;
    }
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
  for (std::size_t k = 0; k < drops.size(); ++k) builder.steps[k]->read_last(drops[k]);
  for (const ValueInfo& input : model.graph.inputs) inputs.push_back(graph.find(input.name));
  spent.resize(builder.steps.size());
  list_outputs();
  weigh_steps();
}

void Plan::Impl::list_outputs() {
  for (const ValueInfo& output : model.graph.outputs) {
    const Index value = graph.find(output.name);
    const auto buffer = builder.outputs.find(value);
    const bool is_twice = outputs.contains(output.name);
    Output& made = outputs[output.name];
    made.value = value;
    made.moved = !is_twice && held(value).absent();
    made.input = input_of(value);
    if (buffer != builder.outputs.end()) made.memory = bytes_at(memory->at(buffer->second));
    outputs_in_order.push_back(&made);
  }
}

void Plan::Impl::weigh_steps() {
  constexpr double between_looks = 20e3, a_byte = 0.1;
  double since = options.nested ? 0 : between_looks;  // a body's caller has just looked
  for (const std::unique_ptr<Step>& step : builder.steps) {
    work.push_back(steps_of(*step));
    looks.push_back(since >= between_looks);
    if (looks.back()) since = 0;
    const double nanoseconds =
        nanoseconds_of(graph, step->nodes) + a_byte * static_cast<double>(step->bytes_moved());
    wakes = wakes || nanoseconds > RunState::worth_waking;
    since += step->kernel == "reference" ? between_looks : nanoseconds;
  }
}

Index Plan::Impl::input_of(Index output) const {
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

Plan::Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
           const PlanOptions& options)
    : impl_(std::make_unique<Impl>(model, feeds, threads, options)) {}
Plan::~Plan() = default;

std::vector<Placement> Plan::placement() const {
  std::vector<Placement> rows;
  for (const std::unique_ptr<Step>& step : impl_->builder.steps) {
    Placement row{{}, step->ran(), step->ran_class(), {}, {}, step->bytes_moved()};
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

std::vector<std::pair<std::string, std::string>> Plan::fallbacks() const {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const std::unique_ptr<Step>& step : impl_->builder.steps) {
    if (!step->fallback.empty() && !step->nodes.empty())
      rows.emplace_back(label_of(*impl_->graph.node(step->nodes.front()).node), step->fallback);
  }
  return rows;
}

Index Plan::arena_bytes() const { return impl_->arena; }
Index Plan::device_bytes() const { return impl_->there ? impl_->there->bytes() : 0; }

}  // namespace touchstone::optimized
