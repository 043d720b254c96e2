// Judges the outputs of fast sessions (optimized/judge_testing.h): all nodes of a model together,
// from its feeds to its outputs, since a session fuses nodes and exposes no value between them.
#include "conformance/compare/region.h"
#include "conformance/single_node.h"
#include "optimized/judge_testing.h"

namespace touchstone::optimized {

std::string why_refused(const Model& model, const std::map<std::string, Value>& feeds,
                        const std::map<std::string, Value>& outputs) {
  if (is_sanitised) return "";
  std::set<Index> nodes;
  for (const Node& node : model.graph.nodes) nodes.insert(node.index);
  std::map<std::string, Value> seen = feeds;
  seen.insert(outputs.begin(), outputs.end());
  const compare::RegionJudgement found = compare::judge_region(model, nodes, seen, {});
  if (judge::is_pass(found.verdict)) return "";
  std::string why = std::string(judge::name(found.verdict)) + " " + found.detail;
  for (const conformance::NodeBlame& one : found.shown) {
    if (!judge::is_pass(one.judgement.verdict))
      why += "; " + conformance::describe(*one.node, one.judgement);
  }
  return why;
}

}  // namespace touchstone::optimized
