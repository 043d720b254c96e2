// Loads runtimes, warms them up and times rounds. Loads take turns as blocks do; each finds
// resident memory available and no other runtime loaded. A block's first run is not timed, because
// other runtimes have evicted its data from the caches. The timed run that is judged is drawn after
// the block.
#include "tools/bench/measure.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "conformance/compare/distance.h"
#include "core/error.h"
#include "tools/bench/ready.h"
#include "tools/bench/statistics.h"

namespace touchstone::bench {
namespace {

constexpr double block_seconds = 0.2, warm_seconds = 0.5;
constexpr Index max_in_block = 100, fewest_rounds = 3, max_rounds = 1000;

struct Runner {
  RuntimeProcess runtime_process;
  Figure figure;
  Index next_set = 0, in_block = 1;
  double run_seconds = 0;

  bool running() const { return !figure.failure; }
};

// Runs one step for a runtime that has not failed; a failure ends the benchmark for that runtime
// only.
template <class Deed>
void attempt(Runner& runner, const Deed& deed) {
  if (!runner.running()) return;
  try {
    deed();
  } catch (const RuntimeFailure& failure) {
    runner.figure.failure = failure;
    runner.runtime_process.close();
  }
}

std::vector<Index> next_sets(Runner& runner, Index runs, Index sets) {
  std::vector<Index> out;
  for (Index k = 0; k < runs; ++k) out.push_back(runner.next_set++ % sets);
  return out;
}

OpenRequest ask_for(const BenchmarkRun& benchmark) {
  return {benchmark.model.string(), benchmark.threads, benchmark.dims, benchmark.input_sets};
}

// Estimates the bytes of a session that holds a packed copy of its weights.
Index ready_bytes(const BenchmarkRun& benchmark) {
  constexpr Index rest = Index{128} << 20;
  return 2 * static_cast<Index>(std::filesystem::file_size(benchmark.model)) + rest;
}

void load(Runner& runner, const BenchmarkRun& benchmark, ReadyMemory& ready) {
  ready.take();
  const OpenAnswer opened =
      runner.runtime_process.open(ask_for(benchmark), [&] { ready.give_back(); });
  runner.runtime_process.close();
  runner.figure.loads.push_back(opened.seconds);
  runner.figure.version = opened.version;
  runner.figure.settings = opened.settings;
}

void warm(Runner& runner, const BenchmarkRun& benchmark) {
  const auto sets = static_cast<Index>(benchmark.input_sets.size());
  double spent = 0;
  for (Index k = 0; k < max_in_block && (k < 2 || spent < warm_seconds); ++k) {
    const double seconds = runner.runtime_process.run(next_sets(runner, 1, sets)).front();
    if (k == 0) runner.figure.first = seconds;
    if (k > 0) runner.run_seconds = k == 1 ? seconds : std::min(runner.run_seconds, seconds);
    spent += seconds;
    if (k > 0 && spent > 8 * warm_seconds) break;
  }
  const double fit = block_seconds / std::max(runner.run_seconds, 1e-9);
  runner.in_block = std::clamp<Index>(static_cast<Index>(std::lround(fit)), 1, max_in_block);
}

void block(Runner& runner, const BenchmarkRun& benchmark, std::mt19937_64& draw) {
  const auto sets = static_cast<Index>(benchmark.input_sets.size());
  const std::vector<Index> order = next_sets(runner, runner.in_block + 1, sets);
  std::vector<double> seconds = runner.runtime_process.run(order);
  seconds.erase(seconds.begin());
  runner.figure.blocks.push_back(std::move(seconds));
  if (benchmark.output_checker == nullptr) return;

  const auto chosen = static_cast<Index>(1 + draw() % static_cast<std::uint64_t>(runner.in_block));
  const Outputs outputs = runner.runtime_process.show(chosen, benchmark.scratch / "outputs");
  const OutputChecker::Ruling ruling =
      benchmark.output_checker->hold(order[static_cast<std::size_t>(chosen)], outputs);
  ++runner.figure.judged;
  runner.figure.distance = std::max(runner.figure.distance, ruling.distance);
  if (!ruling.fault.empty()) throw RuntimeFailure{FailureKind::wrong, ruling.fault};
}

// Compares the outputs for the first inputs with those of the first runtime: a hint, no verdict.
void compare(std::vector<Runner>& runners, const BenchmarkRun& benchmark) {
  std::optional<Outputs> ours;
  for (Runner& runner : runners) {
    if (!runner.running()) {
      if (!ours) return;
      continue;
    }
    try {
      runner.runtime_process.run({0});
      const Outputs outputs = runner.runtime_process.show(0, benchmark.scratch / "outputs");
      if (!ours) ours = outputs;
      runner.figure.distance =
          compare::farthest(compare::distances(benchmark.outputs, outputs, *ours));
    } catch (const RuntimeFailure&) {  // an output that is no tensor
      runner.figure.distance = HUGE_VAL;
      if (!ours) return;
    }
  }
}

Index rounds_for(const std::vector<Runner>& runners, const BenchPlan& plan) {
  double longest = 0;
  for (const Runner& runner : runners) {
    if (!runner.running()) continue;
    longest = std::max(longest, runner.run_seconds * static_cast<double>(runner.in_block));
  }
  if (longest <= 0) return fewest_rounds;
  return std::clamp<Index>(static_cast<Index>(std::ceil(plan.seconds / longest)), fewest_rounds,
                           max_rounds);
}

// Runs a step for each remaining runtime, in the order of the round.
template <class Deed>
void take_turns(std::vector<Runner>& runners, Index round, const Deed& deed) {
  for (const std::size_t next : turns(round, runners.size())) {
    attempt(runners[next], [&] { deed(runners[next]); });
  }
}

}  // namespace

std::vector<std::size_t> turns(Index round, std::size_t runtimes) {
  std::vector<std::size_t> order;
  const auto begins = static_cast<std::size_t>(round) % runtimes;
  for (std::size_t k = 0; k < runtimes; ++k) {
    order.push_back((begins + (round % 2 == 0 ? k : runtimes - k)) % runtimes);
  }
  return order;
}

std::vector<double> Figure::all() const {
  std::vector<double> out;
  for (const std::vector<double>& one : blocks) out.insert(out.end(), one.begin(), one.end());
  return out;
}

std::vector<Figure> measure(
    const BenchmarkRun& benchmark,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& starts,
    const BenchPlan& plan, const std::function<void(const std::string&)>& say) {
  std::vector<Runner> runners;
  for (const auto& [name, command] : starts) {
    runners.push_back({RuntimeProcess(name, command, plan.limit), {}});
    runners.back().figure.runtime = name;
  }
  say("loading");
  ReadyMemory ready(ready_bytes(benchmark));
  for (Index round = 0; round < plan.loads; ++round) {
    take_turns(runners, round, [&](Runner& runner) { load(runner, benchmark, ready); });
  }
  say("warming up");
  for (Runner& runner : runners) {
    attempt(runner, [&] {
      runner.runtime_process.open(ask_for(benchmark));
      warm(runner, benchmark);
    });
  }

  std::mt19937_64 draw(plan.seed);
  const Index rounds = rounds_for(runners, plan);
  say(std::to_string(rounds) + " rounds");
  for (Index round = 0; round < rounds; ++round) {
    take_turns(runners, round, [&](Runner& runner) { block(runner, benchmark, draw); });
  }
  for (Runner& runner : runners)
    attempt(runner, [&] { runner.figure.weight = runner.runtime_process.weigh(); });
  if (benchmark.output_checker == nullptr) compare(runners, benchmark);
  std::vector<Figure> figures;
  for (Runner& runner : runners) {
    runner.runtime_process.close();
    figures.push_back(std::move(runner.figure));
  }
  return figures;
}

}  // namespace touchstone::bench
