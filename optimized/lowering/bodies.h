// Plans of a subgraph, for a node that runs it once or many times with shapes that may change.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "optimized/plan/plan.h"

namespace touchstone {

class BodyPlans {
 public:
  // `outer`: the graph whose values the body captures. Both must outlive the plans.
  BodyPlans(const AnalyzedGraph& outer, const Graph& body);

  // Returns the body's outputs, in tensors of their own. Throws Error as its steps do.
  std::vector<Value> run(std::vector<Value> inputs, RunState& state);
  void begin();  // of a run of the node
  Index runs() const { return runs_; }
  // Returns the plans that runs have made and that are kept.
  std::vector<Plan*> plans();

 private:
  using Shapes = std::map<std::string, Shape>;
  using FedTypes = std::map<std::string, ValueType>;
  struct Made {
    Shapes shapes;
    FedTypes types;
    std::set<std::string> unclaimed;
    std::unique_ptr<const Model> model;
    std::unique_ptr<Plan> plan;
  };

  Made made(const Shapes& shapes, const FedTypes& types, std::set<std::string> unclaimed,
            const RunState& state) const;
  Made& plan_for(const RunState& state);
  Shapes known_shapes();

  const AnalyzedGraph& outer_;
  const Graph& body_;
  const std::vector<std::string> captured_;
  std::map<std::string, Value> feeds_;
  std::map<std::string, std::vector<Shape>> seen_;  // shapes of each fed tensor
  std::list<Made> plans_;                           // most recently used first
  Index runs_ = 0;
};

}  // namespace touchstone
