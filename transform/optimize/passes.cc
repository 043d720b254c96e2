// List of all passes, and the driver that runs them in order until nothing changes.
#include "transform/optimize/passes.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "model/model.h"
#include "transform/optimize/graph_passes.h"
#include "transform/optimize/matcher.h"

namespace touchstone::transform {

namespace {

constexpr Pass passes[] = {
    {"drop-dead", Level::basic, true,
     "Nodes, constants and functions that no output needs go, at first and behind each pass that "
     "changes the graph.",
     drop_dead},
    {"inline-functions", Level::basic, true,
     "A call of one of the model's functions becomes the function's body.", inline_functions},
    {"freeze-defaults", Level::basic, true,
     "In files before IR 4, which list every constant as an input, inputs with a default become "
     "constants.",
     freeze_defaults},
    {"keep-as-written", Level::basic, true,
     "Its patterns name what other passes leave as it stands.", nullptr},
    {"fold-constants", Level::basic, true,
     "What depends on constants alone, or on shapes that are known, is computed once.",
     fold_constants},
    {"choose-branches", Level::basic, true,
     "A node that runs one of two graphs, and always the same one, becomes that graph's nodes.",
     choose_branches},
    {"fold-quantised", Level::all, true, "Quantised weights become floats once.", nullptr},
    {"fold-weights", Level::all, true,
     "What kernels want constant is computed once, whatever its size; of the rest, what takes up "
     "to 16 times the bytes that it is computed of.",
     fold_weights},
    {"drop-identities", Level::basic, true, "Nodes that give back their input bit for bit go.",
     nullptr},
    {"join-moves", Level::basic, true,
     "Chains of moves (transpositions, reshapes) become one move.", nullptr},
    {"fold-padding", Level::basic, true, "Padding by zeros becomes the window's own.", nullptr},
    {"fold-normalisation", Level::basic, false,
     "Factors and offsets for each channel go into the weights before or behind them.", nullptr},
    {"spread-normalisation", Level::extended, false,
     "A batch normalisation that no weights take becomes a product and a sum, which fuse.",
     nullptr},
    {"spread-quantisation", Level::all, false,
     "A value that is quantised and at once a float again is rounded by nodes that fuse.", nullptr},
    {"name-spelled-out", Level::basic, false,
     "What exporters spell out in several nodes becomes the operator that means it.", nullptr},
    {"spread-sums", Level::extended, false,
     "A sum of two or three values becomes additions, which fuse.", nullptr},
    {"spread-powers", Level::extended, false,
     "A second or third power that no other pass names becomes products, which fuse.", nullptr},
    {"share-constants", Level::basic, true, "Equal constants are one.", share_constants},
    {"share-nodes", Level::basic, true, "Equal nodes of equal inputs are one.", share_nodes},
};
constexpr Index max_rounds = 50;

bool names_pass(const std::vector<std::string>& names, std::string_view pass) {
  return std::find(names.begin(), names.end(), pass) != names.end();
}

bool is_known(std::string_view name) {
  return std::any_of(std::begin(passes), std::end(passes),
                     [&](const Pass& pass) { return pass.name == name; }) ||
         std::any_of(all_patterns().begin(), all_patterns().end(),
                     [&](const Pattern& pattern) { return pattern.name == name; });
}

void refuse_unknown(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_known(name)) continue;
    std::string all;
    for (const Pass& pass : passes) all += (all.empty() ? "" : ", ") + std::string(pass.name);
    std::vector<std::string_view> known;
    for (const Pass& pass : passes) known.push_back(pass.name);
    for (const Pattern& pattern : all_patterns()) known.push_back(pattern.name);
    throw Error(ErrorKind::usage, "there is no pass or pattern '" + name + "'")
        .with_help(did_you_mean(name, known) + "the passes are " + all);
  }
}

class Counts {
 public:
  void add(std::string_view pass, std::string_view pattern, Index changes) {
    if (changes == 0) return;
    for (PassCount& count : counts) {
      if (count.pass == pass && count.pattern == pattern) {
        count.changes += changes;
        return;
      }
    }
    counts.push_back({std::string(pass), std::string(pattern), changes});
  }

  std::vector<PassCount> counts;
};

// True if a pattern runs: with its pass if its level allows, or if it is selected by name.
bool runs(const Pattern& pattern, const Pass& pass, const PassOptions& options) {
  if (pattern.pass != pass.name || pattern.replace == nullptr) return false;
  if (names_pass(options.with, pattern.name))
    return is_wanted(options, pattern.name, pattern.level);
  const Level level = std::max(pass.level, options.level);
  return is_wanted(options, pass.name, pass.level) && pattern.level <= level &&
         !names_pass(options.without, pattern.name);
}

// Drops what a pass left without readers: a dead node counts as a consumer of its inputs.
void sweep(MutableGraph& graph, Counts& counts) {
  const Pass& pass = passes[0];
  if (is_wanted(graph.options(), pass.name, pass.level)) counts.add(pass.name, "", pass.run(graph));
}

// Runs a pass and its patterns. Returns true if the graph changed.
bool run_pass(const Pass& pass, MutableGraph& graph, Counts& counts) {
  const bool whole = pass.run && is_wanted(graph.options(), pass.name, pass.level);
  Index changes = whole ? pass.run(graph) : 0;
  counts.add(pass.name, "", changes);
  for (const Pattern& pattern : all_patterns()) {
    if (!runs(pattern, pass, graph.options())) continue;
    const Index more = apply_pattern(pattern, graph);
    counts.add(pass.name, pattern.name, more);
    changes += more;
  }
  if (changes > 0) sweep(graph, counts);
  return changes > 0;
}

}  // namespace

std::string_view name(Level level) {
  static constexpr std::string_view names[] = {"none", "basic", "extended", "all"};
  return names[static_cast<std::size_t>(level)];
}

std::optional<Level> level_by_name(std::string_view text) {
  for (Level level : all_levels) {
    if (name(level) == text) return level;
  }
  return std::nullopt;
}

bool is_wanted(const PassOptions& options, std::string_view name, Level level) {
  const bool on = level <= options.level || names_pass(options.with, name);
  return on && !names_pass(options.without, name);
}

std::span<const Pass> all_passes() { return passes; }

Optimized optimize(Model model, const PassOptions& options) {
  refuse_unknown(options.with);
  refuse_unknown(options.without);
  const LimitsScope scope(options.limits);
  MutableGraph graph(std::move(model), options);
  Counts counts;
  bool changed = true;
  for (Index round = 0; changed && round < max_rounds; ++round) {
    changed = false;
    graph.forget_shapes();
    for (const Pass& pass : passes) changed = run_pass(pass, graph, counts) || changed;
  }
  std::vector<Assumed> assumed = graph.assumed();
  Optimized made{graph.finish(), std::move(counts.counts), std::move(assumed)};
  require_valid(made.model, options.limits);
  return made;
}

}  // namespace touchstone::transform
