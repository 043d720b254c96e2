// Plans of a subgraph, for a node that runs it once or many times with shapes that may change.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "optimized/plan/plan.h"

namespace touchstone::optimized {

// Thrown where the reference must run the node: it raises the error, or computes what no plan does.
struct BodyFailed {};

class BodyPlans {
 public:
  // `outer`: the graph whose values the body captures. Both must outlive the plans. `repeats`: a
  // run of the node runs the body many times.
  BodyPlans(const AnalyzedGraph& outer, const Graph& body, bool repeats);

  // Number k is the body's input k; all must be set before a run.
  std::vector<Value>& feeds() { return feeds_; }
  // Memory for feeds that change from run to run, and are not read after it.
  std::span<std::byte> lent() { return lent_; }
  // Makes the body's outputs: tensors outside of the plans' memory, perhaps those of feeds.
  // Throws Error as its steps do.
  void run(std::vector<Value>& outputs, RunState& state);
  void begin();  // of a run of the node
  Index runs() const { return runs_; }
  // Returns the plans that runs have made and that are kept.
  std::vector<Plan*> plans();
  const Graph& body() const { return body_; }

 private:
  // Type and shape of a fed value that a plan relies on; no shape if it is left open.
  struct Fed {
    ValueType type;
    std::optional<Shape> shape;
    bool operator==(const Fed&) const = default;
  };
  struct Made {
    std::vector<Fed> feeds;
    std::set<std::string> unclaimed;
    std::unique_ptr<const Model> model;
    std::unique_ptr<Plan> plan;
    Index round = 0;  // in which it ran last
  };

  const std::string& name_of(std::size_t feed) const;
  Model written(const std::vector<Fed>& feeds) const;
  Made made(std::vector<Fed> feeds, std::set<std::string> unclaimed, const RunState& state) const;
  bool fits(const Made& made) const;
  Made& plan_for(const RunState& state);
  std::vector<Fed> known_feeds();

  const AnalyzedGraph& outer_;
  const Graph& body_;
  const bool repeats_;
  alignas(64) std::array<std::byte, 128> lent_{};
  std::vector<std::string> constants_;    // captured
  std::vector<Index> captured_;           // other captured values
  std::vector<Value> feeds_;              // the body's inputs, then captured values
  std::vector<std::vector<Shape>> seen_;  // shapes of each fed tensor
  std::list<Made> plans_;                 // most recently used first
  Index runs_ = 0;
  Index round_ = 1;  // counts runs of the node
};

}  // namespace touchstone::optimized
