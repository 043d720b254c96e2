// Runtimes take turns on one model: a round is a block of runs of each, so that what disturbs the
// machine hits all alike.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/graph.h"
#include "tools/bench/contender.h"
#include "tools/bench/referee.h"

namespace touchstone {

struct BenchPlan {
  double seconds = 3;                        // of timed runs, for each runtime
  Index input_sets = 3;                      // inputs change from run to run
  Index loads = 5;                           // fresh processes in which loading is timed
  std::uint64_t seed = 1;                    // of inputs, and of which run of a block is judged
  std::chrono::milliseconds limit{600'000};  // for an answer
};

// One runtime on one model with one number of threads.
struct Figure {
  std::string runtime, version, settings;
  std::vector<double> loads;                // seconds, a fresh process each
  double first = 0;                         // seconds of the first run of all
  std::vector<std::vector<double>> blocks;  // seconds of timed runs, a block a round
  Weight weight;
  Index judged = 0;              // timed runs whose outputs were held to the reference's
  double distance = 0;           // the largest of theirs
  std::optional<Fallen> fallen;  // then it has no figure

  std::vector<double> all() const;
};

struct Race {
  std::filesystem::path model, scratch;
  Index threads = 1;
  std::map<std::string, Index> dims;  // of its symbols
  std::vector<std::vector<NamedFile>> input_sets;
  std::vector<NamedFile> moved;  // the first set with every float moved to a neighbour; not timed
  std::vector<ValueInfo> outputs;
  Index nodes = 0;
  const Referee* referee = nullptr;
};

// In which order `runtimes` of them take their turns in a round: each begins as often as the
// others, and the direction changes, so that nobody always follows the same neighbour.
std::vector<std::size_t> turns(Index round, std::size_t runtimes);

// `starts`: a runtime's name and the command of its process. `say` hears of each stage.
std::vector<Figure> measure(
    const Race& race, const std::vector<std::pair<std::string, std::vector<std::string>>>& starts,
    const BenchPlan& plan, const std::function<void(const std::string&)>& say);

}  // namespace touchstone
