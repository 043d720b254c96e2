// State of a plan: its graph, steps and memory. For the files that make and run plans.
#pragma once

#include "core/budget.h"
#include "core/error.h"
#include "model/model.h"
#include "model/place.h"
#include "optimized/plan/arena_check.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/caller_memory.h"
#include "optimized/plan/cost.h"
#include "optimized/plan/plan.h"
#include "optimized/plan/plan_memory.h"

namespace touchstone::optimized {

struct Plan::Impl {
  Impl(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& given);

  void list_outputs();
  // Decides before which steps a run looks at its budget: the first one, and after about every
  // 20 microseconds of work.
  void weigh_steps();
  // Returns the position of an input whose copy in the plan's memory is also this output.
  Index input_of(Index output) const;

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
    Index input = no_value;             // position of an input that is the same tensor
    std::optional<Tensor> lent;         // memory in which steps write it in this run
  };

  Value& held(Index value) { return values[static_cast<std::size_t>(value)]; }
  Value made(Output& output, const PlanMemory* own);
  // Returns a tensor for an output, whose elements have any values.
  Tensor tensor_for(const Output& output) const;
  // Lets steps write an output in this memory. Returns false if they write in the plan's.
  void lend(Output& output, Tensor to);
  bool takes_memory(const Output& output) const {
    return caller && caller->takes_output(output.value);
  }
  void compute(const std::map<std::string, Value>& feeds, ThreadPool& pool,
               std::vector<Timing>* timings);
  // Forgets the times and the fallbacks of the last run. A run of the main graph runs plans of
  // subgraphs many times.
  void forget_last_run() {
    for (std::size_t k = 0; k < spent.size(); ++k) {
      spent[k] = 0;
      builder.steps[k]->fallback.clear();
      for (const auto& [name, plan] : builder.steps[k]->plans()) plan->impl_->forget_last_run();
    }
  }
  void run_steps(ThreadPool& pool, std::vector<Timing>* timings, bool repeats);
  // Releases the values that a run made, also if it throws.
  struct Clean {
    Impl& h;
    ~Clean() {
      for (const Index value : h.passing) h.values[static_cast<std::size_t>(value)].is = {};
      for (auto& [name, output] : h.outputs) output.lent.reset();
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
  std::unique_ptr<ArenaCheck> check;     // null: steps are trusted
  std::unique_ptr<CallerMemory> caller;  // null: feeds and outputs are copied
  std::vector<Value> values;
  std::vector<Index> passing;             // values that are released when a run ends
  std::vector<Index> work;                // of each step
  std::vector<bool> steady;               // steps that a repeated run leaves out
  std::vector<double> spent;              // microseconds of each step in the last run, if timed
  std::vector<char> looks;                // true before each step that looks at the budget
  bool wakes = false;                     // a step may divide its work among the threads
  std::vector<std::vector<Index>> drops;  // values to release after each step
  std::vector<Index> inputs;              // of the model, in its order
  std::map<std::string, Output> outputs;
  std::vector<Output*> outputs_in_order;  // of the model
};

}  // namespace touchstone::optimized
