// Execution plan of a model for feeds of given shapes: the steps in order, their kernels and their
// memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/device.h"
#include "model/graph.h"
#include "optimized/plan/kernel_grade.h"
#include "optimized/plan/output_buffers.h"
#include "optimized/plan/shared_arena.h"
#include "optimized/plan/shared_weights.h"
#include "optimized/plan/step.h"
#include "optimized/registry/isa.h"
#include "transform/optimize/passes.h"

namespace touchstone::optimized {

class Builder;

// Allocates memory of so many bytes, aligned for float32.
using BufferSource = std::function<std::shared_ptr<void>(Index bytes)>;

struct PlanOptions {
  bool fuse = true, winograd = true;
  bool folds = true;  // computes nodes of constants when it is made
  Limits limits;
  std::set<std::string> unclaimed = {};  // values whose shapes differed at run time
  BufferSource buffers = {};  // not empty: allocates each buffer separately, instead of one arena
  std::shared_ptr<backends::Device> device =
      {};               // not null: runs the nodes for which it has kernels
  bool host = true;     // the processor runs the rest; false: that is an Error
  bool nested = false;  // runs inside a step of another plan
  bool helped = true;   // false: the thread that calls run does all work (ThreadPool)
  // Shared with the other plans of the session; null for a plan with its own.
  std::shared_ptr<SharedWeights> weights = {};
  std::shared_ptr<SharedArena> arena = {};
  std::shared_ptr<OutputBuffers> outputs = {};  // null: each run allocates its outputs
  ShapeProver* prover = nullptr;
  // Inputs, the last ones, that stay the same from run to run as long as runs repeat.
  std::set<std::string> steady = {};
  // Memory of feeds that change between runs: what run_in_order hands on of it is copied.
  std::span<const std::byte> lent = {};
  // Passes for subgraphs, which their plans run; null: subgraphs run as written.
  std::shared_ptr<const transform::PassOptions> passes = {};
  bool check_arena = false;  // like TOUCHSTONE_CHECK=arena (arena_check.h)
  bool timed = false;        // keeps the time of each step of the last run, subgraphs included
  // Hook for tests: changes steps and lifetimes before memory is placed.
  std::function<void(Builder&)> change = {};
};

// Time of one step, or of one thread's share in it, in microseconds since the run began.
struct Timing {
  Index step = 0;
  double begin = 0, end = 0;
  Index thread = no_value;  // no_value: the whole step
};

struct Placement {
  std::vector<std::string> nodes;  // "'conv1' (Conv)"
  std::string kernel;
  KernelClass kernel_class = KernelClass::reference;
  std::vector<std::string> reads, writes;  // "float[1,3,224,224]": values read and written
  Index bytes = 0, flop = 0;               // as defined in plan/cost.h
};

class Plan {
 public:
  // The model must be resolved and valid and outlive the plan.
  Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& options);
  ~Plan();

  // Throws Error with the node's place, and ShapeDiffers. `timings`: if not null, receives a row
  // for each step, followed by one for each thread that ran a part of it.
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                   std::vector<Timing>* timings = nullptr);
  // Takes feeds in the order of the model's inputs, each of them fed, and makes outputs in the
  // model's order. Tensors outside of the plan's memory are shared, also those of feeds. Moves
  // feeds that are no tensors, but not steady ones, also if it throws. `repeats`: the steady feeds
  // are those of the run before.
  void run_in_order(std::vector<Value>& feeds, std::vector<Value>& outputs, ThreadPool& pool,
                    bool repeats);
  // Writes the outputs into existing tensors. Throws Error (usage) if one has another type or
  // shape. Allocates nothing beyond what reference kernels allocate.
  void run_into(const std::map<std::string, Value>& feeds, std::map<std::string, Tensor>& outputs,
                ThreadPool& pool, std::vector<Timing>* timings = nullptr);

  std::vector<Placement> placement() const;    // of each step
  std::vector<NodePlacement> kernels() const;  // of each node, those of subgraphs after their own
  // Nodes of the main graph whose kernel did not compute the last run's values, and why.
  std::vector<std::pair<std::string, std::string>> fallbacks() const;
  Index arena_bytes() const;
  Index device_bytes() const;  // of the buffers on the device, constants included

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace touchstone::optimized
