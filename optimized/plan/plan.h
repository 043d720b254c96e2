// A model made ready for feeds of given shapes: which kernel runs when, on what memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/graph.h"
#include "optimized/plan/step.h"
#include "optimized/registry/isa.h"

namespace touchstone {

struct PlanOptions {
  bool fuse = true;
  Limits limits;
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

  // Throws Error with the node's place.
  std::map<std::string, Value> run(std::map<std::string, Value> feeds, ThreadPool& pool);

  std::vector<Placement> placement() const;
  Index arena_bytes() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace touchstone
