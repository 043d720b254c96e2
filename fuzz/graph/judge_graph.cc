// Runs and judges whole graphs.
#include "fuzz/graph/judge_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/assess_nodes.h"
#include "conformance/blame.h"
#include "conformance/compare/rewrite.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "fuzz/graph/judge_body.h"
#include "fuzz/graph/judge_hidden.h"
#include "model/model.h"
#include "model/scopes.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

judge::Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::unsupported:
      return judge::Verdict::unsupported;
    case ErrorKind::internal:
      return judge::Verdict::crash;
    case ErrorKind::out_of_memory:
    case ErrorKind::limit:
      return judge::Verdict::out_of_memory;
    default:
      return judge::Verdict::rejected_valid;
  }
}

void judge_tapped(const Model& resolved, const Feeds& feeds, const Feeds& seen,
                  GraphJudgement& found) {
  std::set<std::string> requested;
  for (const auto& [name, value] : seen) requested.insert(name);
  const conformance::Blame all = conformance::blame(
      conformance::nodes_seen(resolved, feeds, seen, requested), judge_options());
  Feeds known = feeds;
  known.insert(seen.begin(), seen.end());
  found.elements += all.judged;
  for (const conformance::NodeBlame& one : all.nodes) {
    if (!one.skipped.empty()) {
      const BodyJudgement body = judge_body(resolved, *one.node, known);
      if (judge::is_fail(body.verdict)) {
        found.verdict = body.verdict;
        found.guilty = name_of(*one.node);
        found.detail = body.detail;
        return;
      }
      ++(body.verdict == judge::Verdict::open ? found.skipped : found.judged);
    } else if (judge::is_fail(one.judgement.verdict) ||
               (one.judgement.verdict == judge::Verdict::harness && !one.judgement.over_limit)) {
      found.verdict = one.judgement.verdict;
      found.guilty = name_of(*one.node);
      found.detail = conformance::describe(*one.node, one.judgement);
      return;
    } else if (one.judgement.verdict == judge::Verdict::open || one.judgement.over_limit ||
               one.judgement.verdict == judge::Verdict::unsupported) {
      ++found.skipped;
    } else {
      ++found.judged;
    }
  }
}

}  // namespace

GraphAnswer run_fast(const Model& model, const std::vector<Feeds>& feeds,
                     const optimized::SessionOptions& options) {
  GraphAnswer answer;
  try {
    optimized::Session session(model, options);
    for (const Feeds& one : feeds) answer.outputs.push_back(session.run(one));
  } catch (const Error& error) {
    answer.failure = verdict_of(error);
    answer.error = fmt::format("run {}: {}", answer.outputs.size(), error.message);
    answer.place = error.place;
  }
  return answer;
}

Model tapped_model(const Model& resolved) {
  std::map<std::string, ValueType> types;
  for (const ValueInfo& info : resolved.graph.values) {
    if (info.type) types.emplace(info.name, *info.type);
  }
  return compare::with_taps(resolved, compare::hidden_values(resolved), types);
}

bool data_decides(const Model& resolved, const Case& made, const GraphAnswer& answer,
                  const RunTarget& run_target) {
  const auto refuses = [&](const Node& node) {
    const std::string name = "'" + node.name + "'";  // of the place, or in a runtime's message
    return !node.name.empty() && (answer.place.find(name) != std::string::npos ||
                                  answer.error.find(name) != std::string::npos);
  };
  const std::vector<Node>& nodes = resolved.graph.nodes;
  const auto guilty = std::find_if(nodes.begin(), nodes.end(), refuses);
  if (answer.failure != judge::Verdict::rejected_valid || guilty == nodes.end()) return false;
  Model before = resolved;
  before.graph.nodes.erase(before.graph.nodes.begin() + (guilty - nodes.begin()),
                           before.graph.nodes.end());
  before.graph.outputs.clear();
  before = tapped_model(before);
  const std::size_t run = answer.outputs.size();
  const GraphAnswer seen = run_target(
      before, {made.feeds.begin(), made.feeds.begin() + static_cast<std::ptrdiff_t>(run) + 1});
  if (!seen.error.empty() || run >= seen.outputs.size()) return false;
  Feeds known = made.feeds[run];
  known.insert(seen.outputs[run].begin(), seen.outputs[run].end());
  try {
    run_node(*guilty, [&](const std::string& name) { return value_of(resolved, name, known); });
  } catch (const Error& error) {
    return error.kind == ErrorKind::invalid_input;
  }
  return false;
}

GraphJudgement judge_answers(const Model& resolved, const Case& made, const GraphAnswer& plain,
                             const GraphAnswer& tapped, const RunTarget& run_target) {
  GraphJudgement found;
  for (const GraphAnswer* answer : {&plain, &tapped}) {
    if (answer->error.empty()) continue;
    found.verdict = answer->failure;
    found.detail = answer->error + (answer->place.empty() ? "" : " at " + answer->place);
    found.run = static_cast<Index>(answer->outputs.size());
    found.tapped = answer == &tapped;
    if (data_decides(resolved, made, *answer, run_target)) found.verdict = judge::Verdict::open;
    return found;
  }
  const bool drawn = conformance::draws(resolved.graph.nodes);
  for (std::size_t run = 0; run < made.feeds.size(); ++run) {
    found.run = static_cast<Index>(run);
    judge_tapped(resolved, made.feeds[run], tapped.outputs[run], found);
    if (found.guilty.empty() && !drawn)
      judge_hidden(resolved, made.feeds, run, plain.outputs[run], tapped.outputs[run], run_target,
                   found);
    if (!found.guilty.empty()) return found;
  }
  if (found.judged > 0) found.verdict = judge::Verdict::within;
  return found;
}

GraphJudgement judge_graph(const Case& made, const optimized::SessionOptions& options) {
  Model model = made.model;
  try {
    require_valid(model, Limits::trusted());
  } catch (const Error& error) {
    GraphJudgement found;
    found.verdict = judge::Verdict::harness;
    found.detail = "the checker refuses the case: " + error.message;
    return found;
  }
  const RunTarget run = [&](const Model& one, const std::vector<Feeds>& feeds) {
    return run_fast(one, feeds, options);
  };
  return judge_answers(model, made, run(model, made.feeds), run(tapped_model(model), made.feeds),
                       run);
}

}  // namespace touchstone::fuzz
