// Two targets on one model: how far apart their outputs end, and which node is to blame. Each node
// of each side is judged on the inputs that this side itself gave it, so that no fault of an
// earlier node, and no honest rounding, is laid on a later one.
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

namespace touchstone {

// Taps change what a runtime fuses. `search`: a run without, then one with all; and where that
// makes a fault go, a search for the nodes that show it only together.
enum class Taps { search, none, all, some };

struct CompareOptions {
  Taps taps = Taps::search;
  std::vector<std::string> nodes;  // of `some`: the nodes whose inputs and outputs are shown
  JudgeOptions judge;
  std::chrono::milliseconds timeout{600'000};  // of each phase of each run
  std::filesystem::path scratch;               // a folder for this comparison alone
  Index most_runs = 100;                       // of a search on one side
};

// One run of one side.
struct Observed {
  bool ran = false;
  std::string verdict, detail;          // what is wrong with the run itself, in conform's words
  std::string note;                     // what was done to the model before it was loaded
  bool repeats = true;                  // a second run gave the same
  std::map<std::string, Value> values;  // outputs and taps, by name
};

// A side whose outputs without taps are farther from those with taps than the two sides are from
// each other with taps: something misbehaves only where nobody looks.
struct Vanished {
  Bisected found;
  std::vector<std::string> hidden;      // the values that have to stay hidden
  std::set<Index> nodes;                // those that make or use them
  std::map<std::string, Value> values;  // what the side gave with all others shown, and its feeds
  RegionJudgement judgement;
};

struct ComparedSide {
  std::string target, version;
  Observed plain, tapped;       // `tapped` is empty where no tap was wanted or needed
  Blame blame;                  // of the tapped run; of the plain one if there is no other
  std::vector<Distance> moved;  // from the outputs with taps to those without
  std::optional<Vanished> vanished;
  std::string not_searched;  // why, where there was reason to

  const Observed& judged() const { return tapped.ran ? tapped : plain; }
};

struct Compared {
  std::array<ComparedSide, 2> sides;       // left, right
  std::vector<Distance> distances;         // of the outputs as they come
  std::vector<Distance> tapped_distances;  // of the outputs beside taps

  // The side with the earliest guilty node.
  std::optional<std::size_t> guilty() const;
};

struct CompareSide {
  std::string target;
  std::vector<std::string> command;  // of its worker
};

// What is being done, of how many steps, and what the last step came to.
using OnStep = std::function<void(const std::string& stage, Index total, std::string_view came_to)>;

// A resolved model in which check() found nothing, the file that it came from, and its feeds.
// Throws Error for a target that does not start, a node that is not there, feeds that do not fit.
Compared compare(const Model& model, const std::filesystem::path& file,
                 const std::map<std::string, Value>& feeds, const std::array<CompareSide, 2>& sides,
                 const CompareOptions& options, const OnStep& on_step = {});

}  // namespace touchstone
