// Holds a plan's memory and runs its steps; whatever a run made is gone before the next.
#include "optimized/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/error.h"
#include "core/placement.h"
#include "model/model.h"
#include "model/place.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/large.h"
#include "reference/feeds.h"

namespace touchstone {
namespace {

// Memory of a plan: one block for the arena, one for each thread's scratch.
class Block : public Memory {
 public:
  Block(const std::vector<Span>& spans, const std::map<Index, const Tensor*>& constants,
        Index bytes)
      : spans_(spans), constants_(constants), memory_(large_memory(bytes / 4)) {}
  float* at(Index buffer) const override {
    if (const auto found = constants_.find(buffer); found != constants_.end())
      return const_cast<float*>(found->second->data<float>());
    return memory_.get() + spans_[static_cast<std::size_t>(buffer)].offset / 4;
  }

 private:
  const std::vector<Span>& spans_;
  const std::map<Index, const Tensor*>& constants_;
  const LargeMemory memory_;
};

// The value with buffers of its own: the plan's memory is written again by the next run.
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
  return value;  // maps hold numbers and texts that they made
}

Index rounded(Index bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

struct Plan::Held {
  Held(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& given)
      : model(model),
        options(given),
        outline(model, feeds, given.limits, given.unclaimed),
        builder(outline, threads, given) {
    builder.build();
    arena = rounded(place_spans(builder.spans));
    memory = std::make_unique<Block>(builder.spans, builder.constants, arena);
    Index scratch = 0;
    for (const std::unique_ptr<Step>& step : builder.steps) {
      placed_step(*step, [&] { step->bind(*memory); });
      scratch = std::max(scratch, step->scratch());
    }
    scratch_memory =
        Tensor(Type::float32, Shape{std::max<Index>(threads, 1), rounded(scratch) + 64});
    for (Index k = 0; k < std::max<Index>(threads, 1); ++k)
      scratch_of.push_back(scratch_memory.data<float>() + k * (rounded(scratch) + 64));
    values.resize(outline.values().size());
    drops.resize(builder.steps.size());
    for (const auto& [value, step] : builder.last_use) {
      if (step < static_cast<Index>(drops.size()) && !outline.value(value).constant)
        drops[static_cast<std::size_t>(step)].push_back(value);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const ValueFact& fact = outline.values()[k];
      if (fact.constant) values[k] = *fact.constant;
    }
    for (const auto& [name, sparse] : model.graph.sparse_initializers) {
      if (const Index k = outline.find(name); k != nobody)
        values[static_cast<std::size_t>(k)] = dense(sparse);
    }
    for (const auto& [value, buffer] : builder.tensors) {
      const ValueFact& fact = outline.value(value);
      if (!fact.constant)
        values[static_cast<std::size_t>(value)] =
            tensor_at(memory->at(buffer), Type::float32, *fact.shape);
    }
    for (std::size_t k = 0; k < values.size(); ++k) kept.push_back(!values[k].absent());
  }

  std::string place(Index node) const { return place_of(*outline.node(node).node, ""); }

  template <class F>
  void placed_step(const Step& step, F&& work) const {
    try {
      work();
    } catch (Error& error) {
      if (error.place.empty() && !step.nodes.empty()) error.place = place(step.nodes.front());
      throw;
    } catch (const std::bad_alloc&) {
      Error error(ErrorKind::out_of_memory, "there is not enough memory");
      if (!step.nodes.empty()) error.place = place(step.nodes.front());
      throw error;
    }
  }

  const Model& model;
  const PlanOptions options;
  const Outline outline;
  Builder builder;
  Index arena = 0;
  std::unique_ptr<Block> memory;
  Tensor scratch_memory;
  std::vector<float*> scratch_of;
  std::vector<Value> values;
  std::vector<bool> kept;                 // values that stay from run to run
  std::vector<std::vector<Index>> drops;  // after each step
};

Plan::Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
           const PlanOptions& options)
    : held_(std::make_unique<Held>(model, feeds, threads, options)) {}
Plan::~Plan() = default;

std::map<std::string, Value> Plan::run(std::map<std::string, Value> feeds, ThreadPool& pool,
                                       std::vector<Timing>* timings) {
  Held& h = *held_;
  const LimitsScope scope(h.options.limits);
  // Whatever happens, what this run made is gone before the next.
  struct Clean {
    Held& h;
    ~Clean() {
      for (std::size_t k = 0; k < h.values.size(); ++k) {
        if (!h.kept[k]) h.values[k] = Value();
      }
    }
  } const clean{h};
  for (auto& [name, value] : feeds) {
    if (const Index k = h.outline.find(name); k != nobody)
      h.values[static_cast<std::size_t>(k)] = std::move(value);
  }
  feeds.clear();
  const auto began = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
        .count();
  };
  RunState state{pool, h.values, h.scratch_of, h.options.limits};
  for (std::size_t k = 0; k < h.builder.steps.size(); ++k) {
    const double begin = timings ? since() : 0;
    h.placed_step(*h.builder.steps[k], [&] { h.builder.steps[k]->run(state); });
    if (timings) timings->push_back({static_cast<Index>(k), begin, since()});
    for (const Index value : h.drops[k]) {
      if (!h.kept[static_cast<std::size_t>(value)])
        h.values[static_cast<std::size_t>(value)] = Value();
    }
  }
  std::map<std::string, Value> outputs;
  for (const ValueInfo& output : h.model.graph.outputs) {
    const Index value = h.outline.find(output.name);
    const auto buffer = h.builder.outputs.find(value);
    if (buffer == h.builder.outputs.end()) {
      outputs.emplace(output.name, detached(h.values[static_cast<std::size_t>(value)]));
      continue;
    }
    Tensor made(Type::float32, *h.outline.value(value).shape);
    std::memcpy(made.data<float>(), h.memory->at(buffer->second), made.bytes().size());
    outputs.emplace(output.name, std::move(made));
  }
  return outputs;
}

std::vector<Placement> Plan::placement() const {
  std::vector<Placement> rows;
  for (const std::unique_ptr<Step>& step : held_->builder.steps) {
    Placement row{{}, step->kernel};
    for (const Index node : step->nodes) {
      const Node& n = *held_->outline.node(node).node;
      row.nodes.push_back("'" + (n.name.empty() ? std::to_string(n.index) : n.name) + "' (" + n.op +
                          ")");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Index Plan::arena_bytes() const { return held_->arena; }

}  // namespace touchstone
