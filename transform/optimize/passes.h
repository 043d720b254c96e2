// Graph passes: rewrite an ONNX graph into a faster one that means the same. Each is a function, a
// list of patterns (patterns/*.yaml), or both, and can be switched separately.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "transform/optimize/known.h"

namespace touchstone::transform {

class MutableGraph;

// Accuracy: at `basic` no result becomes less accurate. At `extended` one may, because a constant
// of the new graph is rounded that was exact in the old one.
enum class Level { none, basic, extended, all };
inline constexpr std::array all_levels{Level::none, Level::basic, Level::extended, Level::all};
std::string_view name(Level level);
std::optional<Level> level_by_name(std::string_view name);

struct PassOptions {
  Level level = Level::basic;
  std::vector<std::string> with;     // passes and patterns that run at any level
  std::vector<std::string> without;  // passes and patterns that never run
  // bytes by which a folded constant may exceed the inputs that it is computed from
  Index growth = 1 << 20;
  // Total bytes of all weights computed from smaller constants; in any case at most a quarter of
  // limits.bytes.
  Index weights = Index{1} << 32;
  Limits limits;
  // For sizes that the inputs leave open: `draws` allows facts that hold for all sampled sizes, and
  // `fed` adds shapes of feeds for which facts must hold.
  bool draws = true;
  // True: the caller verifies Optimized::assumed for each feed. Otherwise no assumptions are
  // recorded.
  bool checked = false;
  std::vector<FedShapes> fed;
  // If set, evaluates large nodes of constants, of inputs by position, in place of the reference.
  // `of`: the graph's model. May throw Error; the node stays then.
  using Evaluator = std::function<std::vector<Value>(
      const Node& node, const std::vector<Value>& inputs, const Model& of)>;
  Evaluator evaluator = {};
};

// True if a pass or pattern of this name and level runs.
bool is_wanted(const PassOptions& options, std::string_view name, Level level);

struct Pass {
  std::string_view name;
  Level level;
  bool exact;  // outputs keep their bits
  std::string_view doc;
  // Returns the number of changes; null if the pass has only patterns.
  Index (*run)(MutableGraph& graph);
};

// Passes in the order in which they run. The sequence repeats until none of them changes anything.
std::span<const Pass> all_passes();

struct PassCount {
  std::string pass, pattern;  // `pattern` is "" for changes by the pass's function
  Index changes = 0;
};

struct Optimized {
  Model model;
  std::vector<PassCount> counts;  // only entries with changes, in the order of first change
  // assumptions about shapes, to be verified for the feeds of each run
  std::vector<Assumed> assumed;
};

// Takes a resolved and valid model and returns one. Throws Error (usage) for an unknown pass or
// pattern name.
Optimized optimize(Model model, const PassOptions& options = {});

}  // namespace touchstone::transform
