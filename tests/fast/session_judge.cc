// The judge of what sessions give (optimized/judge_testing.h): all nodes of a model together, from
// its feeds to its outputs, since a session fuses nodes and shows no value between them.
#include "conformance/compare/region.h"
#include "conformance/single_node.h"
#include "optimized/judge_testing.h"

namespace touchstone {

std::string why_refused(const Model& model, const std::map<std::string, Value>& feeds,
                        const std::map<std::string, Value>& outputs) {
  std::set<Index> nodes;
  for (const Node& node : model.graph.nodes) nodes.insert(node.index);
  std::map<std::string, Value> seen = feeds;
  seen.insert(outputs.begin(), outputs.end());
  const RegionJudgement found = judge_region(model, nodes, seen, {});
  if (is_pass(found.verdict)) return "";
  std::string why = std::string(name(found.verdict)) + " " + found.detail;
  for (const NodeBlame& one : found.shown) {
    if (!is_pass(one.judgement.verdict)) why += "; " + describe(*one.node, one.judgement);
  }
  return why;
}

}  // namespace touchstone
