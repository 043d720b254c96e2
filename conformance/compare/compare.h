// Compares two targets on one model: the distance of their outputs, and the node to blame. Each
// node of a side is judged on the inputs that this side itself computed. So neither a fault of an
// earlier node nor faithful rounding is blamed on a later one.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/blame.h"
#include "conformance/compare/bisect.h"
#include "conformance/compare/distance.h"
#include "conformance/compare/region.h"

namespace touchstone::compare {

// Selects the tapped values. Taps change the fusions of a runtime. `search`: a run without taps,
// then one with all; if a fault vanishes with taps, a search for the nodes that show it only
// together.
enum class Taps { search, none, all, some };

struct CompareOptions {
  Taps taps = Taps::search;
  std::vector<std::string> nodes;  // with `some`: the nodes whose inputs and outputs are tapped
  judge::JudgeOptions judge;
  std::chrono::milliseconds timeout{600'000};  // limit for each phase of each run
  std::filesystem::path scratch;               // a folder for this comparison alone
  Index max_runs = 100;                        // limit of a search on one side
};

// One run of one side.
struct Observed {
  bool ran = false;
  std::string verdict, detail;          // failure of the run itself, as conform reports it
  std::string note;                     // changes made to the model before it was loaded
  bool repeats = true;                  // true if a second run gave the same outputs
  std::map<std::string, Value> values;  // outputs and taps, by name
};

// A side whose untapped outputs differ from its tapped ones by more than the two tapped sides
// differ from each other: a fault that is visible only without taps.
struct Vanished {
  Bisected found;
  std::vector<std::string> hidden;      // values that must stay hidden
  std::set<Index> nodes;                // nodes that make or use them
  std::map<std::string, Value> values;  // the side's values with all others tapped, and its feeds
  RegionJudgement judgement;
};

struct ComparedSide {
  std::string target, version;
  Observed plain, tapped;       // `tapped` is empty if no taps were requested or needed
  conformance::Blame blame;     // blame of the tapped run, or else of the plain one
  std::vector<Distance> moved;  // distances from the outputs with taps to those without
  std::optional<Vanished> vanished;
  std::string not_searched;  // reason why a search that was due did not run

  const Observed& judged() const { return tapped.ran ? tapped : plain; }
};

struct Compared {
  std::array<ComparedSide, 2> sides;       // left, right
  std::vector<Distance> distances;         // distances of the outputs without taps
  std::vector<Distance> tapped_distances;  // distances of the outputs with taps

  // Returns the side with the earliest guilty node.
  std::optional<std::size_t> guilty() const;
};

struct CompareSide {
  std::string target;
  std::vector<std::string> command;  // command that starts its worker
};

// Progress: the current stage, its number of steps, and the result of the last step.
using OnStep = std::function<void(const std::string& stage, Index total, std::string_view came_to)>;

// Compares two sides on a resolved model in which check() found nothing, the file that it came
// from, and its feeds. Throws Error if a target does not start, a node does not exist, or feeds do
// not fit.
Compared compare(const Model& model, const std::filesystem::path& file,
                 const std::map<std::string, Value>& feeds, const std::array<CompareSide, 2>& sides,
                 const CompareOptions& options, const OnStep& on_step = {});

}  // namespace touchstone::compare
