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
#include "reference/feeds.h"

namespace touchstone {
namespace {

// Memory of a plan: one block for the arena, or separately allocated buffers.
class Block : public Memory {
 public:
  Block(const std::vector<Span>& spans, const std::map<Index, const Tensor*>& constants,
        Index bytes, const BufferSource& source, const DeviceMemory* there)
      : spans_(spans), constants_(constants), there_(there) {
    if (!source) {
      memory_ = large_memory(bytes / 4);
      return;
    }
    for (const Span& span : spans) apart_.push_back(source(span.bytes));
  }
  float* at(Index buffer) const override {
    if (const auto found = constants_.find(buffer); found != constants_.end())
      return const_cast<float*>(found->second->data<float>());
    const auto k = static_cast<std::size_t>(buffer);
    return memory_ ? memory_.get() + spans_[k].offset / 4 : static_cast<float*>(apart_[k].get());
  }
  DeviceBuffer* on_device(Index buffer) const override { return there_->at(buffer); }

  // Returns all memory of the plan, for the arena check.
  std::vector<ArenaCheck::Area> areas(Index bytes) const {
    if (memory_) return {{memory_.get(), bytes}};
    std::vector<ArenaCheck::Area> made;
    for (std::size_t k = 0; k < apart_.size(); ++k)
      made.push_back({static_cast<float*>(apart_[k].get()), spans_[k].bytes});
    return made;
  }

 private:
  const std::vector<Span>& spans_;
  const std::map<Index, const Tensor*>& constants_;
  const DeviceMemory* const there_;
  LargeMemory memory_;
  std::vector<std::shared_ptr<void>> apart_;
};

// Returns a deep copy: the next run overwrites the plan's memory.
Value detached(const Value& value) {
  if (value.is_tensor()) {
    const Tensor& held = value.tensor();
    Tensor made(held.type(), held.shape());
    if (held.type() == Type::string) {
      std::copy_n(held.data<std::string>(), held.size(), made.data<std::string>());
    } else if (!held.bytes().empty()) {
      std::memcpy(made.bytes().data(), held.bytes().data(), held.bytes().size());
    }
    return made;
  }
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    Sequence made{sequence->inner, {}};
    for (const Value& item : sequence->items) made.items.push_back(detached(item));
    return made;
  }
  if (const auto* optional = std::get_if<Optional>(&value.is)) {
    Optional made{optional->inner, nullptr};
    if (optional->item) made.item = std::make_shared<const Value>(detached(*optional->item));
    return made;
  }
  return value;  // maps own their numbers and strings
}

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
    arena = rounded(checked ? ArenaCheck::place(builder.spans) : place_spans(builder.spans));
    if (options.device) {
      there = std::make_unique<DeviceMemory>(
          *options.device, builder.device_spans, builder.device_constants,
          [&](Index step, const std::function<void()>& work) {
            placed_step(*builder.steps[static_cast<std::size_t>(step)], work);
          });
    }
    memory = std::make_unique<Block>(builder.spans, builder.constants, arena, options.buffers,
                                     there.get());
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
    drops.resize(builder.steps.size());
    for (const auto& [value, step] : builder.last_use) {
      if (step < static_cast<Index>(drops.size()) && !graph.value(value).constant)
        drops[static_cast<std::size_t>(step)].push_back(value);
    }
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
    for (std::size_t k = 0; k < values.size(); ++k) kept.push_back(!values[k].absent());
    for (const std::unique_ptr<Step>& step : builder.steps) work.push_back(steps_of(*step));
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

  void compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
               std::vector<Timing>* timings);
  // Releases the values that a run made, also if it throws.
  struct Clean {
    Impl& h;
    ~Clean() {
      for (std::size_t k = 0; k < h.values.size(); ++k) {
        if (!h.kept[k]) h.values[k] = Value();
      }
    }
  };

  const Model& model;
  const PlanOptions options;
  const Charge charge;
  const AnalyzedGraph graph;
  Builder builder;
  Index arena = 0;
  std::unique_ptr<DeviceMemory> there;  // on a device
  std::unique_ptr<Block> memory;
  std::vector<std::shared_ptr<void>> scratch_memory;  // one per thread
  std::vector<float*> scratch_of;
  std::unique_ptr<ArenaCheck> check;  // null: steps are trusted
  std::vector<Value> values;
  std::vector<Index> work;                // of each step
  std::vector<bool> kept;                 // values that stay between runs
  std::vector<std::vector<Index>> drops;  // values to release after each step
};

Plan::Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
           const PlanOptions& options)
    : impl_(std::make_unique<Impl>(model, feeds, threads, options)) {}
Plan::~Plan() = default;

void Plan::Impl::compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                         std::vector<Timing>* timings) {
  for (const auto& [name, value] : feeds) {
    if (const Index k = graph.find(name); k != no_value)
      values[static_cast<std::size_t>(k)] = value;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto micro = [&](std::chrono::steady_clock::time_point at) {
    return std::chrono::duration<double, std::micro>(at - began).count();
  };
  const auto since = [&] { return micro(std::chrono::steady_clock::now()); };
  if (!options.nested) pool.watch(timings != nullptr);
  const ThreadPool::Run run(pool);
  RunState state{pool, values, scratch_of, options.limits, &options};
  if (check) check->begin(feeds);
  for (std::size_t k = 0; k < builder.steps.size(); ++k) {
    const double begin = timings ? since() : 0;
    placed_step(*builder.steps[k], [&] {
      charge_work(work[k]);
      check_budget();
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
    for (const Index value : drops[k]) {
      if (!kept[static_cast<std::size_t>(value)]) values[static_cast<std::size_t>(value)] = Value();
    }
  }
  if (check) check->end(values);
}

std::map<std::string, Value> Plan::run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                       std::vector<Timing>* timings) {
  Impl& h = *impl_;
  const LimitsScope scope(h.options.limits);
  const Impl::Clean clean{h};
  h.compute(feeds, pool, timings);
  std::map<std::string, Value> outputs;
  for (const ValueInfo& output : h.model.graph.outputs) {
    const Index value = h.graph.find(output.name);
    const auto buffer = h.builder.outputs.find(value);
    if (buffer == h.builder.outputs.end()) {
      outputs.emplace(output.name, detached(h.values[static_cast<std::size_t>(value)]));
      continue;
    }
    Tensor made(Type::float32, *h.graph.value(value).shape);
    std::memcpy(made.data<float>(), h.memory->at(buffer->second), made.bytes().size());
    outputs.emplace(output.name, std::move(made));
  }
  return outputs;
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
      const Value& held = h.values[static_cast<std::size_t>(value)];
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
