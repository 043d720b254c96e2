// A model made ready for feeds of given shapes: which kernel runs when, on what memory.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/graph.h"
#include "optimized/plan/step.h"
#include "optimized/registry/isa.h"

namespace touchstone {

struct PlanOptions {
  bool fuse = true, winograd = true;
  Limits limits;
  std::set<std::string> unclaimed = {};  // values whose shapes a run showed to be others
};

// One step of a run: when it began and ended, in microseconds since the run began.
struct Timing {
  Index step = 0;
  double begin = 0, end = 0;
};

struct Placement {
  std::vector<std::string> nodes;  // "'conv1' (Conv)"
  std::string kernel;
};

class Plan {
 public:
  // The model must be resolved and valid and outlive the plan.
  Plan(const Model& model, const std::map<std::string, Shape>& feeds, Index threads,
       const PlanOptions& options);
  ~Plan();

  // Throws Error with the node's place, and ShapeDiffers. `timings`: if given, a row for each step
  // is added.
  std::map<std::string, Value> run(std::map<std::string, Value> feeds, ThreadPool& pool,
                                   std::vector<Timing>* timings = nullptr);

  std::vector<Placement> placement() const;  // of each step
  Index arena_bytes() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace touchstone
