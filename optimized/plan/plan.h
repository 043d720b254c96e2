// A model made ready for feeds of given shapes: which kernel runs when, on what memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/device.h"
#include "model/graph.h"
#include "optimized/plan/step.h"
#include "optimized/registry/isa.h"

namespace touchstone {

class Builder;

// Gives memory of so many bytes, aligned as floats are.
using BufferSource = std::function<std::shared_ptr<void>(Index bytes)>;

struct PlanOptions {
  bool fuse = true, winograd = true;
  Limits limits;
  std::set<std::string> unclaimed = {};  // values whose shapes a run showed to be others
  BufferSource buffers = {};  // given: each buffer comes from it, and none of them from one arena
  std::shared_ptr<Device> device = {};  // given: it runs what it has kernels for
  bool host = true;                     // the processor runs the rest, else that is an Error
  bool check_arena = false;             // as TOUCHSTONE_CHECK=arena does (arena_check.h)
  // Given: tests change steps and lifetimes with it before memory is placed.
  std::function<void(Builder&)> change = {};
};

// One step of a run, or what one thread did of it: when it began and ended, in microseconds since
// the run began.
struct Timing {
  Index step = 0;
  double begin = 0, end = 0;
  Index thread = nobody;  // the step itself, all of it
};

struct Placement {
  std::vector<std::string> nodes;  // "'conv1' (Conv)"
  std::string kernel;
  KernelClass kernel_class = KernelClass::reference;
  std::vector<std::string> reads, writes;  // "float[1,3,224,224]": what it takes and gives
  Index bytes = 0, flop = 0;               // as plan/cost.h counts them
};

class Plan {
 public:
  // The model must be resolved and valid and outlive the plan.
  Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& options);
  ~Plan();

  // Throws Error with the node's place, and ShapeDiffers. `timings`: if given, a row for each step
  // is added, and behind it one for each thread that took part of it.
  std::map<std::string, Value> run(const std::map<std::string, Value>& feeds, ThreadPool& pool,
                                   std::vector<Timing>* timings = nullptr);
  // Writes the outputs into tensors that are there; Throws Error (usage) too where one has another
  // type or shape. Allocates nothing but what reference kernels do.
  void run_into(const std::map<std::string, Value>& feeds, std::map<std::string, Tensor>& outputs,
                ThreadPool& pool, std::vector<Timing>* timings = nullptr);

  std::vector<Placement> placement() const;  // of each step
  Index arena_bytes() const;
  Index device_bytes() const;  // of the buffers on the device, constants included

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace touchstone
