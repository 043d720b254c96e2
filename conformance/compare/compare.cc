// Runs both sides, assigns their values to the nodes, and searches for a fault that taps hide.
#include "conformance/compare/compare.h"

#include <algorithm>
#include <cmath>

#include "conformance/assess.h"
#include "conformance/compare/rewrite.h"
#include "conformance/targets/host.h"
#include "core/error.h"
#include "core/files.h"
#include "model/bits.h"
#include "model/model.h"
#include "reference/feeds.h"

namespace touchstone::compare {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, Value>;

// Writes the feeds as a job's input files: those without a default, or all inputs if one with a
// default is fed.
std::vector<fs::path> write_feeds(const Graph& graph, const Values& feeds, const fs::path& folder) {
  const auto has_default = [&](const std::string& name) {
    return graph.initializers.contains(name) || graph.sparse_initializers.contains(name);
  };
  const bool all = std::any_of(feeds.begin(), feeds.end(),
                               [&](const auto& feed) { return has_default(feed.first); });
  std::vector<fs::path> files;
  for (const ValueInfo& input : graph.inputs) {
    if (!all && has_default(input.name)) continue;
    const auto fed = feeds.find(input.name);
    if (fed == feeds.end() && !graph.initializers.contains(input.name)) {
      throw Error(ErrorKind::unsupported,
                  "the default of '" + input.name + "' is sparse: it cannot be handed on");
    }
    const Value value = fed != feeds.end() ? fed->second : Value(graph.initializers.at(input.name));
    files.push_back(folder / ("input_" + std::to_string(files.size()) + ".pb"));
    write_atomically(files.back(), serialize_value(value));
  }
  return files;
}

Observed observed(const targets::Answer& answer) {
  Observed seen;
  seen.note = answer.note;
  if (!answer.has_outputs()) {
    const conformance::Assessment failure = conformance::assess_failure(answer);
    seen.verdict = failure.verdict, seen.detail = failure.detail;
    return seen;
  }
  seen.repeats = answer.kind != targets::Answer::Kind::differed;
  if (answer.kind == targets::Answer::Kind::wrote_input) {
    seen.verdict = judge::name(judge::Verdict::wrote_input), seen.detail = answer.detail;
  }
  for (const targets::Output& output : answer.outputs) {
    try {
      const ValueType type = parse_value_type(output.type);
      seen.values[output.name] =
          parse_value(std::as_bytes(std::span(output.bytes)), type, Limits::trusted());
    } catch (const Error&) {
      seen.verdict = judge::name(judge::Verdict::wrong_type);
      seen.detail =
          "'" + output.name + "' is given as " + output.type + ", and cannot be read as such";
      return seen;
    }
  }
  seen.ran = true;
  return seen;
}

// All runs of one side.
class Side {
 public:
  Side(const Model& model, const CompareSide& side, const std::vector<fs::path>& inputs,
       const CompareOptions& options)
      : model_(model), inputs_(inputs), options_(options), host_(side.command, options.timeout) {
    version = host_.describe().version;
  }

  // Runs in a new worker process.
  Observed run(const fs::path& file, unsigned runs) {
    const targets::Job job{file, inputs_, runs};
    return observed(host_.run(std::span(&job, 1)).front());
  }
  // Runs in the existing worker process: a search has many runs.
  Observed run_again(const fs::path& file) { return observed(host_.run_here({file, inputs_, 1})); }

  fs::path write_tapped(const std::vector<std::string>& taps,
                        const std::map<std::string, ValueType>& types) const {
    const fs::path file = options_.scratch / "tapped.onnx";
    save_model(with_taps(model_, taps, types), file);
    return file;
  }

  std::string version;

 private:
  const Model& model_;
  const std::vector<fs::path>& inputs_;
  const CompareOptions& options_;
  targets::Host host_;
};

class Comparer {
 public:
  Comparer(const Model& model, const fs::path& file, const Values& feeds,
           const std::array<CompareSide, 2>& sides, const CompareOptions& options,
           const OnStep& on_step)
      : model_(model), file_(file), feeds_(feeds), options_(options), on_step_(on_step) {
    if (options.taps == Taps::some) taps_ = taps_around(model, options.nodes);
    if (options.taps == Taps::all || options.taps == Taps::search) taps_ = hidden_values(model);
    if (!taps_.empty()) types_ = types_of_values(model);
    inputs_ = write_feeds(model.graph, feeds, options.scratch);
    for (std::size_t k = 0; k < 2; ++k) {
      sides_.push_back(std::make_unique<Side>(model, sides[k], inputs_, options));
      found_.sides[k].target = sides[k].target;
      found_.sides[k].version = sides_[k]->version;
    }
  }

  Compared run() {
    for (std::size_t k = 0; k < 2; ++k) observe(k);
    const auto& [left, right] = found_.sides;
    if (left.plain.ran && right.plain.ran)
      found_.distances = distances(model_.graph.outputs, left.plain.values, right.plain.values);
    if (left.tapped.ran && right.tapped.ran) {
      found_.tapped_distances =
          distances(model_.graph.outputs, left.tapped.values, right.tapped.values);
    }
    for (std::size_t k = 0; k < 2; ++k) blame_side(k);
    if (options_.taps == Taps::search) {
      for (std::size_t k = 0; k < 2; ++k) search(k);
    }
    return std::move(found_);
  }

 private:
  std::string stage(std::size_t k, const std::string& what) const {
    return std::string(k == 0 ? "left: " : "right: ") + what;
  }
  void step(const std::string& stage, Index total, std::string_view came_to) const {
    if (on_step_) on_step_(stage, total, came_to);
  }

  void observe(std::size_t k) {
    ComparedSide& side = found_.sides[k];
    const bool plain = options_.taps == Taps::search || taps_.empty();
    if (plain) {
      side.plain = sides_[k]->run(file_, 2);
      step(stage(k, "run without taps"), 1, side.plain.ran ? "done" : side.plain.verdict);
    }
    if (taps_.empty() || (plain && !side.plain.ran)) return;
    side.tapped = sides_[k]->run(sides_[k]->write_tapped(taps_, types_), 1);
    step(stage(k, "run with taps"), 1, side.tapped.ran ? "done" : side.tapped.verdict);
    if (side.plain.ran && side.tapped.ran) {
      side.moved = distances(model_.graph.outputs, side.plain.values, side.tapped.values);
    }
  }

  void blame_side(std::size_t k) {
    ComparedSide& side = found_.sides[k];
    const Observed& seen = side.judged();
    if (!seen.ran) return;
    std::set<std::string>& asked = asked_[k];
    for (const ValueInfo& output : model_.graph.outputs) asked.insert(output.name);
    if (side.tapped.ran) asked.insert(taps_.begin(), taps_.end());
    nodes_[k] = conformance::nodes_seen(model_, feeds_, seen.values, asked);
    const auto on_node = [&](const conformance::NodeBlame& one) {
      const std::string_view came_to =
          one.skipped.empty() ? judge::name(one.judgement.verdict) : "not judged";
      step(stage(k, "judging its nodes"), static_cast<Index>(nodes_[k].size()), came_to);
    };
    side.blame = conformance::blame(nodes_[k], options_.judge, on_node, [&](std::size_t at) {
      return k == 1 && same_on_both(at) ? &found_.sides[0].blame.nodes[at] : nullptr;
    });
  }

  // True if inputs and outputs of this node have the same bits on both sides.
  bool same_on_both(std::size_t at) const {
    if (nodes_[0].empty()) return false;
    const conformance::TappedNode &left = nodes_[0][at], &right = nodes_[1][at];
    const auto same = [](const std::vector<Value>& a, const std::vector<Value>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_bits);
    };
    try {
      return same(left.inputs(), right.inputs()) && same(left.outputs(), right.outputs());
    } catch (const Error&) {
      return false;  // a value that was not requested from a side
    }
  }

  void search(std::size_t k) {
    ComparedSide& side = found_.sides[k];
    if (!side.plain.ran || !side.tapped.ran || side.blame.guilty) return;
    const double moved = farthest(side.moved);
    if (!(moved > farthest(found_.tapped_distances))) return;
    if (!side.plain.repeats) {
      side.not_searched = "two runs without taps on the same inputs already differ";
      return;
    }
    Vanished gone;
    gone.values = side.plain.values;
    const Shows shows = [&](const std::vector<std::size_t>& hidden) {
      Observed seen = sides_[k]->run_again(sides_[k]->write_tapped(all_but(hidden), types_));
      const bool still =
          seen.ran &&
          2 * farthest(distances(model_.graph.outputs, seen.values, side.tapped.values)) >= moved;
      if (still) gone.values = std::move(seen.values);
      step(stage(k, "bisecting the taps"), options_.max_runs,
           still ? "shows it" : "does not show it");
      return still;
    };
    gone.found = bisect(taps_.size(), shows, options_.max_runs);
    for (const std::size_t position : gone.found.hidden) gone.hidden.push_back(taps_[position]);
    const std::set<std::string> hidden(gone.hidden.begin(), gone.hidden.end());
    gone.nodes = region_around(model_, hidden);
    for (const auto& [name, value] : feeds_) gone.values.emplace(name, value);
    gone.judgement = judge_around(model_, hidden, gone.values, options_.judge);
    side.vanished = std::move(gone);
  }

  std::vector<std::string> all_but(const std::vector<std::size_t>& hidden) const {
    std::vector<std::string> taps;
    for (std::size_t position = 0; position < taps_.size(); ++position) {
      if (!std::binary_search(hidden.begin(), hidden.end(), position))
        taps.push_back(taps_[position]);
    }
    return taps;
  }

  const Model& model_;
  const fs::path& file_;
  const Values& feeds_;
  const CompareOptions& options_;
  const OnStep& on_step_;
  std::vector<std::string> taps_;
  std::map<std::string, ValueType> types_;
  std::vector<fs::path> inputs_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::array<std::set<std::string>, 2> asked_;
  std::array<std::vector<conformance::TappedNode>, 2> nodes_;
  Compared found_;
};

}  // namespace

std::optional<std::size_t> Compared::guilty() const {
  const std::optional<std::size_t>& left = sides[0].blame.guilty;
  const std::optional<std::size_t>& right = sides[1].blame.guilty;
  if (!left && !right) return std::nullopt;
  return !left || (right && *right < *left) ? 1 : 0;
}

Compared compare(const Model& model, const fs::path& file, const Values& feeds,
                 const std::array<CompareSide, 2>& sides, const CompareOptions& options,
                 const OnStep& on_step) {
  check_feeds(model.graph, feeds);
  return Comparer(model, file, feeds, sides, options, on_step).run();
}

}  // namespace touchstone::compare
