// Times runtimes that take turns on one model. A round is a block of runs of each, so that a
// disturbance of the machine affects all alike.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"
#include "tools/bench/output_checker.h"
#include "tools/bench/runtime_process.h"

namespace touchstone::bench {

struct BenchPlan {
  double seconds = 3;                        // duration of timed runs, for each runtime
  Index input_sets = 3;                      // inputs change from run to run
  Index loads = 5;                           // fresh processes in which loading is timed
  std::uint64_t seed = 1;                    // seed of inputs, and of the choice of the judged runs
  std::chrono::milliseconds limit{600'000};  // time limit of one answer
};

// Measurements of one runtime on one model with one number of threads.
struct Figure {
  std::string runtime, version, settings;
  std::vector<double> loads;                // seconds, each in a fresh process
  double first = 0;                         // seconds of the very first run
  std::vector<std::vector<double>> blocks;  // seconds of timed runs, a block per round
  Weight weight;
  Index judged = 0;     // timed runs whose outputs were compared with the reference's
  double distance = 0;  // the largest relative distance of those outputs; unjudged: to ours
  std::optional<RuntimeFailure> failure;  // the runtime then has no figure

  std::vector<double> all() const;
};

struct BenchmarkRun {
  std::filesystem::path model, scratch;
  Index threads = 1;
  std::map<std::string, Index> dims;  // sizes of its symbols
  std::vector<std::vector<NamedFile>> input_sets;
  std::vector<NamedFile> moved;  // the first set with every float replaced by a neighbor; not timed
  std::vector<ValueInfo> outputs;
  Index nodes = 0;
  const OutputChecker* output_checker = nullptr;  // null: no output is judged
};

// Returns the order in which runtimes take their turns in a round. Each begins equally often, and
// the direction alternates, so that no runtime always follows the same one.
std::vector<std::size_t> turns(Index round, std::size_t runtimes);

// Measures all runtimes. `starts`: a runtime's name and the command of its process. `say` receives
// each stage.
std::vector<Figure> measure(
    const BenchmarkRun& benchmark,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& starts,
    const BenchPlan& plan, const std::function<void(const std::string&)>& say);

}  // namespace touchstone::bench
