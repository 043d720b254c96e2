// Compares by the suite's own tolerance, then by the bounds of the smallest region that differs.
#include "fuzz/graph/judge_hidden.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "conformance/compare/bisect.h"
#include "conformance/compare/region.h"
#include "conformance/compare/rewrite.h"
#include "conformance/single_node.h"
#include "fuzz/graph/judge_body.h"
#include "model/scopes.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_runs = 40;

// True if an output of `hidden` is absent, or outside the tolerance around that of `shown`.
bool differs(const Feeds& hidden, const Feeds& shown, const std::string& output) {
  const auto a = hidden.find(output), b = shown.find(output);
  if (a == hidden.end() || b == shown.end()) return a != b;
  return !judge::is_pass(judge::judge_tolerance(b->second, a->second).verdict);
}

std::set<std::string> names_at(const std::vector<std::string>& names,
                               const std::vector<std::size_t>& positions) {
  std::set<std::string> picked;
  for (const std::size_t position : positions) picked.insert(names[position]);
  return picked;
}

Model with_taps_but(const Model& resolved, const std::vector<std::string>& all,
                    const std::set<std::string>& hidden) {
  std::vector<std::string> taps;
  std::copy_if(all.begin(), all.end(), std::back_inserter(taps),
               [&](const std::string& name) { return !hidden.contains(name); });
  return compare::with_taps(resolved, taps, {});
}

// True if each of the nodes, judged alone, may have made these outputs of these inputs. What
// depends on an element of `hidden` that the definition leaves open is not judged. Serves where a
// region has no bound; hidden values are those of the run that shows them.
bool fits(const Model& resolved, const std::set<Index>& nodes, const std::set<std::string>& hidden,
          const Feeds& values) {
  std::set<std::string> requested;
  for (const auto& [name, value] : values) requested.insert(name);
  const Feeds none;  // the values hold the feeds
  std::vector<conformance::TappedNode> some;
  for (conformance::TappedNode& one : conformance::nodes_seen(resolved, none, values, requested)) {
    if (nodes.contains(one.node->index)) some.push_back(std::move(one));
  }
  const conformance::Blame all = conformance::blame(some, judge_options());
  std::set<std::string> open;  // with open elements, and those that depend on them
  for (const conformance::NodeBlame& one : all.nodes) {
    const std::vector<std::string>& made = one.node->outputs;
    const std::vector<std::string> read = names_used(*one.node);
    if (std::any_of(read.begin(), read.end(),
                    [&](const std::string& name) { return open.contains(name); })) {
      std::copy_if(made.begin(), made.end(), std::inserter(open, open.end()),
                   [&](const std::string& name) { return hidden.contains(name); });
      continue;
    }
    if (judge::is_fail(one.skipped.empty() ? one.judgement.verdict
                                           : judge_body(resolved, *one.node, values).verdict))
      return false;
    for (std::size_t k = 0; one.skipped.empty() && k < one.judgement.outputs.size(); ++k) {
      if (one.judgement.outputs[k].open > 0 && hidden.contains(made.at(k))) open.insert(made[k]);
    }
  }
  return true;
}

}  // namespace

std::string name_of(const Node& node) {
  return node.signature ? fmt::format("{}-{}", node.op, node.signature->since) : node.op;
}

bool same_value(const Value& a, const Value& b) {
  return judge::is_pass(judge::judge_exact(a, b, judge::ZeroSign::compared).verdict);
}

// True if the region's nodes made each of these values, and none of them wrong.
bool explains(const compare::RegionJudgement& region, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::any_of(region.shown.begin(), region.shown.end(),
                       [&](const conformance::NodeBlame& one) {
                         const std::vector<std::string>& made = one.node->outputs;
                         return judge::is_pass(one.judgement.verdict) &&
                                std::find(made.begin(), made.end(), name) != made.end();
                       });
  });
}

void judge_hidden(const Model& resolved, const std::vector<Feeds>& feeds, std::size_t run,
                  const Feeds& plain, const Feeds& tapped, const RunTarget& run_target,
                  GraphJudgement& found) {
  std::vector<std::string> far;
  bool same = true;
  for (const ValueInfo& output : resolved.graph.outputs) {
    const auto a = plain.find(output.name), b = tapped.find(output.name);
    if (a != plain.end() && b != tapped.end() && same_value(b->second, a->second)) continue;
    same = false;
    if (differs(plain, tapped, output.name)) far.push_back(output.name);
  }
  if (same) return;
  if (far.empty()) {
    ++found.rounded;
    return;
  }
  const std::vector<std::string> all = compare::hidden_values(resolved);
  const std::vector<Feeds> until(feeds.begin(),
                                 feeds.begin() + static_cast<std::ptrdiff_t>(run) + 1);
  Feeds last = plain;  // outputs of the last run that differed
  const auto shows = [&](const std::vector<std::size_t>& hidden) {
    const GraphAnswer answer =
        run_target(with_taps_but(resolved, all, names_at(all, hidden)), until);
    if (!answer.error.empty()) return true;
    const bool shown = std::any_of(far.begin(), far.end(), [&](const std::string& name) {
      return differs(answer.outputs.back(), tapped, name);
    });
    if (shown) last = answer.outputs.back();
    return shown;
  };
  const compare::Bisected smallest = compare::bisect(all.size(), shows, max_runs);
  const std::set<std::string> hidden = names_at(all, smallest.hidden);
  Feeds values = feeds[run];
  values.insert(last.begin(), last.end());
  const compare::RegionJudgement region =
      compare::judge_around(resolved, hidden, values, judge_options());
  const bool fails = judge::is_fail(region.verdict);
  values.insert(tapped.begin(), tapped.end());
  if (!fails && (judge::is_pass(region.verdict) || explains(region, far) ||
                 fits(resolved, compare::region_around(resolved, hidden), hidden, values))) {
    ++found.rounded;
    return;
  }
  found.tapped = false;
  found.verdict = judge::Verdict::wrong_value;
  for (const conformance::NodeBlame& one : region.shown) {
    if (!judge::is_fail(one.judgement.verdict)) continue;
    found.verdict = one.judgement.verdict;
    found.guilty = name_of(*one.node);
    found.detail = conformance::describe(*one.node, one.judgement);
    break;
  }
  if (found.guilty.empty()) {
    const auto makes = [&](const Node& node) {
      return std::find(node.outputs.begin(), node.outputs.end(), far.front()) != node.outputs.end();
    };
    const auto maker =
        std::find_if(resolved.graph.nodes.begin(), resolved.graph.nodes.end(), makes);
    found.guilty = maker == resolved.graph.nodes.end() ? far.front() : name_of(*maker);
    const auto actual = plain.find(far.front()), expected = tapped.find(far.front());
    if (actual != plain.end() && expected != tapped.end())
      found.detail = conformance::describe(
          far.front(), judge::judge_tolerance(expected->second, actual->second));
    found.detail += "; " + region.detail;
  }
  std::string names;
  for (const std::string& name : hidden) names += (names.empty() ? "" : " ") + name;
  found.detail += fmt::format("; with hidden values {}", names);
}

}  // namespace touchstone::fuzz
