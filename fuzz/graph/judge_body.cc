// Runs the node on the reference, and judges a function's nodes as a region if that differs.
#include "fuzz/graph/judge_body.h"

#include <set>

#include "conformance/compare/region.h"
#include "conformance/single_node.h"
#include "core/error.h"
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
  std::vector<Value> expected;
  try {
    expected =
        run_node(node, [&](const std::string& name) { return value_of(model, name, known); });
  } catch (const Error& error) {
    return {judge::Verdict::accepted_invalid, error.message};
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    const Value actual = value_of(model, node.outputs[k], known);
    if (same_value(expected[k], actual)) continue;
    const judge::Comparison by_tolerance = judge::judge_tolerance(expected[k], actual);
    if (judge::is_pass(by_tolerance.verdict)) continue;
    if (node.function) return judge_call(model, node, known);
    return {by_tolerance.verdict, conformance::describe(node.outputs[k], by_tolerance)};
  }
  return {judge::Verdict::within, ""};
}

}  // namespace touchstone::fuzz
