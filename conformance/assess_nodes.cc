// Assesses a case of several nodes. Error bounds explode over a whole graph, so the verdict is that
// of the nodes, each judged on the inputs that the target itself computed. The target runs the
// model again with every value as an output. That run represents the first one only if both gave
// the same outputs.
#include "conformance/assess_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/blame.h"
#include "conformance/compare/rewrite.h"
#include "conformance/single_node.h"
#include "model/model.h"

namespace touchstone::conformance {
namespace {

void say(Assessment& found, const std::string& text) {
  found.detail += (found.detail.empty() ? "" : "; ") + text;
}

// True if both runs gave bit-identical model outputs.
bool same_outputs(const Model& model, const targets::Answer& plain, const targets::Answer& tapped) {
  const auto find = [](const targets::Answer& answer, const std::string& name) {
    return std::find_if(answer.outputs.begin(), answer.outputs.end(),
                        [&](const targets::Output& output) { return output.name == name; });
  };
  return std::all_of(model.graph.outputs.begin(), model.graph.outputs.end(),
                     [&](const ValueInfo& info) {
                       const auto a = find(plain, info.name), b = find(tapped, info.name);
                       if (a == plain.outputs.end() || b == tapped.outputs.end()) return false;
                       return a->type == b->type && a->bytes == b->bytes;
                     });
}

std::string named(const Node& node) {
  const std::string version = node.signature ? fmt::format("-{}", node.signature->since) : "";
  return fmt::format("node {} ({}{})", node.index, node.op, version);
}

// Returns a summary such as "80 nodes: 71 exact, 9 within", with the first reason for a node that
// could not be judged.
std::string counted(const Blame& all) {
  std::map<judge::Verdict, Index> counts;
  std::string skipped;
  Index not_judged = 0;
  for (const NodeBlame& one : all.nodes) {
    if (one.skipped.empty()) {
      ++counts[one.judgement.verdict];
    } else if (++not_judged == 1) {
      skipped = fmt::format("{}: {}", named(*one.node), one.skipped);
    }
  }
  std::string text = fmt::format("{} nodes: ", all.nodes.size());
  for (const auto& [verdict, count] : counts)
    text += fmt::format("{} {}, ", count, judge::name(verdict));
  if (not_judged > 0) return text + fmt::format("{} not judged, as {}", not_judged, skipped);
  return text.substr(0, text.size() - 2);
}

void judge_nodes(const Model& model, const NamedValues& feeds, const NamedValues& seen,
                 Assessment& found) {
  std::set<std::string> asked;
  for (const ValueInfo& output : model.graph.outputs) asked.insert(output.name);
  for (const std::string& name : compare::hidden_values(model)) asked.insert(name);
  const Blame all = blame(nodes_seen(model, feeds, seen, asked), {});
  say(found, counted(all));
  for (const NodeBlame& one : all.nodes) {
    if (const auto most = utilisation(one.judgement))
      found.utilisation = std::max(found.utilisation.value_or(0), *most);
  }
  if (all.guilty) {
    const NodeBlame& one = all.nodes[*all.guilty];
    found.verdict = judge::name(one.judgement.verdict);
    return say(found, named(*one.node) + ": " + describe(*one.node, one.judgement));
  }
  const bool whole = std::all_of(all.nodes.begin(), all.nodes.end(), [](const NodeBlame& one) {
    return one.skipped.empty() && judge::is_pass(one.judgement.verdict);
  });
  if (whole)
    found.verdict = judge::name(all.verdict);  // otherwise the verdict by the suite's rule stays
}

}  // namespace

void assess_nodes(const Model& model, const Assignment& assignment, const NamedValues& feeds,
                  Assessment& found) {
  if (!assignment.taps) {
    if (assignment.tapped_model.empty()) return say(found, why_not_judged(model));
    save_model(
        compare::with_taps(model, compare::hidden_values(model), compare::types_of_values(model)),
        assignment.tapped_model);
    found.tapped = true;
    return;
  }
  const targets::Answer& taps = *assignment.taps;
  const std::string why = "by the suite's rule only: with every value shown ";
  if (!taps.has_outputs()) {
    const Assessment failure = assess_failure(taps);
    return say(found, why + "it is " + failure.verdict + ": " + failure.detail);
  }
  if (!same_outputs(model, assignment.answer, taps))
    return say(found, why + "its outputs are others");
  try {
    judge_nodes(model, feeds, parse_outputs(taps.outputs), found);
  } catch (const NoValue& none) {
    say(found, why + none.is.detail);
  }
}

}  // namespace touchstone::conformance
