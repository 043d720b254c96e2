// Passes: from an ONNX graph to a better one that means the same. Each is a function, a list of
// patterns (patterns/*.yaml), or both, and can be switched alone.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "optimized/passes/known.h"

namespace touchstone {

class Workbench;

// basic: no result is less accurate. extended: one may be, where a constant of the new graph is
// rounded that the old one had exactly.
enum class Level { none, basic, extended, all };
inline constexpr std::array all_levels{Level::none, Level::basic, Level::extended, Level::all};
std::string_view name(Level level);
std::optional<Level> level_by_name(std::string_view name);

struct PassOptions {
  Level level = Level::basic;
  std::vector<std::string> with;     // passes and patterns that run whatever the level says
  std::vector<std::string> without;  // those that do not
  Index growth = 1 << 20;  // bytes by which a folded constant may be larger than what it came from
  // Bytes that all weights that are computed of smaller constants may take; no more than a quarter
  // of limits.bytes in any case.
  Index weights = Index{1} << 32;
  Limits limits;
  // Sizes that the inputs leave open: whether passes may rely on what held at sizes that were
  // drawn, and the shapes of feeds at which it has to hold.
  bool draws = true;
  bool checked = false;  // the caller holds Optimized::assumed against the shapes of each feed;
                         // else nothing of it is kept
  std::vector<FedShapes> fed;
};

// Does a pass or pattern of this name and level run?
bool is_wanted(const PassOptions& options, std::string_view name, Level level);

struct Pass {
  std::string_view name;
  Level level;
  bool exact;  // outputs keep their bits
  std::string_view doc;
  Index (*run)(Workbench& bench);  // how often it changed something; null: patterns are all it has
};

// In the order in which they run. They run again until none of them changes anything.
std::span<const Pass> all_passes();

struct PassCount {
  std::string pass, pattern;  // pattern "" for what the pass's function did
  Index changes = 0;
};

struct Optimized {
  Model model;
  std::vector<PassCount> counts;  // of what changed something, in the order of the passes
  std::vector<Assumed> assumed;   // of shapes: to be checked for the feeds of each run
};

// A resolved and valid model goes in, and one comes out. Throws Error (usage) for the name of a
// pass that there is not.
Optimized optimize(Model model, const PassOptions& options = {});

}  // namespace touchstone
