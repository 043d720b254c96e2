// Judges a case of the graph level on the fast executor. One session runs all sets of feeds in
// order; a second one does so with every value as an output. Each node is judged on the inputs that
// the second session itself computed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/judge/verdict.h"
#include "fuzz/case.h"
#include "optimized/session.h"

namespace touchstone::fuzz {

// The guilty node, or the failure of a whole run.
struct GraphJudgement {
  judge::Verdict verdict = judge::Verdict::open;
  std::string guilty;  // "Clip-13", "" if no node is
  std::string detail;
  Index run = 0;       // the set of feeds
  bool tapped = true;  // false: seen only in the run whose values are hidden
  Index judged = 0, skipped = 0, elements = 0;  // nodes that were judged or not; elements judged
  Index rounded = 0;  // runs whose outputs were rounded otherwise where values were hidden
};

// Outputs by name of each run, and the error of the run that failed.
struct GraphAnswer {
  std::vector<Feeds> outputs;
  std::string error;  // "" if all runs succeeded
  std::string place;  // of the error: "node 'n_v3' (Neg), main graph"
  judge::Verdict failure = judge::Verdict::open;
};

GraphAnswer run_fast(const Model& model, const std::vector<Feeds>& feeds,
                     const optimized::SessionOptions& options);

// Runs a model on the target, one session for all feeds.
using RunTarget = std::function<GraphAnswer(const Model& model, const std::vector<Feeds>& feeds)>;

// Judges the answers of any target: of the case's model, and of tapped_model(). `run` is used where
// outputs differ between the two, to find the nodes that differ.
GraphJudgement judge_answers(const Model& resolved, const Case& made, const GraphAnswer& plain,
                             const GraphAnswer& tapped, const RunTarget& run);

// True if the node that refused its inputs was given others than the reference gives it, and the
// reference refuses those, too: an index that is computed from rounded values, for example.
bool data_decides(const Model& resolved, const Case& made, const GraphAnswer& answer,
                  const RunTarget& run_target);

// Returns the resolved model with every value of the main graph as an output.
Model tapped_model(const Model& resolved);

GraphJudgement judge_graph(const Case& made, const optimized::SessionOptions& options);

}  // namespace touchstone::fuzz
