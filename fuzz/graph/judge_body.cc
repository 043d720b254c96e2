// Runs the node on the reference, and judges a function's nodes as a region if that differs.
#include "fuzz/graph/judge_body.h"

#include <set>

#include "conformance/compare/region.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "fuzz/graph/conditioning.h"
#include "fuzz/graph/judge_hidden.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

// Judges the function's nodes together, by the call's inputs and outputs.
BodyJudgement judge_call(const Model& model, const Node& node, const Feeds& known) {
  const Function& function = *node.function;
  Model body;
  body.graph.nodes = function.nodes;
  std::set<Index> all;
  for (std::size_t k = 0; k < body.graph.nodes.size(); ++k) {
    body.graph.nodes[k].index = static_cast<Index>(k);
    all.insert(static_cast<Index>(k));
  }
  Feeds values;
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    values[function.inputs[k]] = value_of(model, node.inputs[k], known);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].empty())
      values[function.outputs[k]] = value_of(model, node.outputs[k], known);
  }
  const compare::RegionJudgement region = compare::judge_region(body, all, values, judge_options());
  for (const conformance::NodeBlame& one : region.shown) {
    if (judge::is_fail(one.judgement.verdict))
      return {one.judgement.verdict,
              name_of(*one.node) + " inside: " + conformance::describe(*one.node, one.judgement)};
  }
  return {region.verdict, region.detail};
}

}  // namespace

Value value_of(const Model& model, const std::string& name, const Feeds& known) {
  if (const auto at = known.find(name); at != known.end()) return at->second;
  if (const auto at = model.graph.initializers.find(name); at != model.graph.initializers.end())
    return at->second;
  return {};
}

BodyJudgement judge_body(const Model& model, const Node& node, const Feeds& known) {
  const auto look_up = [&](const std::string& name) { return value_of(model, name, known); };
  std::vector<Value> expected, actual;
  try {
    expected = run_node(node, look_up);
  } catch (const Error& error) {
    return {judge::Verdict::accepted_invalid, error.message};
  }
  for (const std::string& output : node.outputs)
    actual.push_back(output.empty() ? Value() : look_up(output));
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty() || same_value(expected[k], actual[k])) continue;
    const judge::Comparison by_tolerance = judge::judge_tolerance(expected[k], actual[k]);
    if (judge::is_pass(by_tolerance.verdict)) continue;
    if (node.function) return judge_call(model, node, known);
    if (moves_as_far(node, look_up, expected, actual))
      return {judge::Verdict::open, "roundings of its inputs move its outputs as far"};
    return {by_tolerance.verdict, conformance::describe(node.outputs[k], by_tolerance)};
  }
  return {judge::Verdict::within, ""};
}

}  // namespace touchstone::fuzz
