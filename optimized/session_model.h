// The model of a session after the passes, with what its plans share.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "optimized/plan/shared_weights.h"
#include "optimized/session.h"
#include "optimized/threads/pool.h"
#include "reference/shapes/proved_shapes.h"
#include "transform/optimize/known.h"

namespace touchstone::optimized {

struct SessionModel {
  SessionModel(transform::Optimized made, const transform::PassOptions& passes);

  // True if the passes' assumptions hold for these shapes of the feeds.
  bool holds_for(const transform::FedShapes& shapes);
  // True if these shapes determine which branch a node runs, and the passes did not know.
  bool determine_branch(const transform::FedShapes& shapes);
  // True if the passes relied on a condition.
  bool relies_on_condition() const;

  const Model model;
  const std::vector<transform::Assumed> assumed;
  ShapeProver prover;
  std::deque<ShapeProver> provers;  // of the assumptions' models
  const std::shared_ptr<SharedWeights> weights = std::make_shared<SharedWeights>();

 private:
  bool controls_ = false;                        // the main graph has a node with subgraphs
  std::set<std::string> known_conditions_ = {};  // of the last fed shapes; no pass used them
};

// Returns the shapes of all required inputs if the model fixes every size, else nullopt.
std::optional<transform::FedShapes> only_shapes(const Graph& graph);

// Gives the sizes to the symbolic dimensions of inputs.
Model with_sizes(Model model, const std::map<std::string, Index>& dims);

// Returns the passes of a session, for its model and for subgraphs; null in a bundle, whose models
// are optimized before.
std::shared_ptr<const transform::PassOptions> passes_of(const SessionOptions& options);

// Optimizes the model. First refuses nodes that cannot run, so that errors name nodes of the
// original model. `fed`: shapes for which the passes' assumptions must hold. `draws`, `checked`:
// see PassOptions. `pool` runs the nodes that passes fold. Large weights to which only the
// result and `written` (null: none) refer to become restorable (core/restorable.h) in both.
std::shared_ptr<SessionModel> optimized_model(Model model, const SessionOptions& options,
                                              std::vector<transform::FedShapes> fed, bool draws,
                                              bool checked, ThreadPool& pool,
                                              Model* written = nullptr);

}  // namespace touchstone::optimized
