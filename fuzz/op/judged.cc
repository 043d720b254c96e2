// The node is judged on the case's own inputs, since it is the only one of its model.
#include "fuzz/op/judged.h"

#include "conformance/judge/judge.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::usage || error.kind == ErrorKind::invalid_model ||
         error.kind == ErrorKind::invalid_input;
}

JudgedCase judge_outputs(const Node& node, const Model& model, const Feeds& feeds,
                         const Feeds& given) {
  const auto values_of = [&](const std::vector<std::string>& names) {
    std::vector<Value> values;
    for (const std::string& name : names) {
      Value value;
      if (const auto fed = feeds.find(name); fed != feeds.end()) value = fed->second;
      if (const auto held = model.graph.initializers.find(name);
          held != model.graph.initializers.end())
        value = held->second;
      if (const auto made = given.find(name); made != given.end()) value = made->second;
      values.push_back(std::move(value));
    }
    return values;
  };
  const judge::NodeJudgement judged =
      judge::judge_node(node, values_of(node.inputs), values_of(node.outputs));
  return {judged.verdict, conformance::describe(node, judged)};
}

// For bodies that only copy, add and compare: the outputs equal the reference's bit for bit.
JudgedCase same_as_reference(const Model& model, const Feeds& feeds, const Feeds& given) {
  for (const auto& [name, expected] : run(model, feeds, RunOptions{Limits::trusted(), {}})) {
    const auto at = given.find(name);
    if (at == given.end()) return {judge::Verdict::unwritten, "output '" + name + "' is missing"};
    const judge::Comparison found =
        judge::judge_exact(expected, at->second, judge::ZeroSign::compared);
    if (!judge::is_pass(found.verdict)) return {found.verdict, conformance::describe(name, found)};
  }
  return {judge::Verdict::exact, ""};
}

}  // namespace

JudgedCase judge_on_fast(const Case& one, const optimized::SessionOptions& options) {
  Model model = one.model;
  try {
    require_valid(model, options.limits);
    const Node node = model.graph.nodes.front();
    const bool runs_a_body = !conformance::why_not_judged(node).empty();
    optimized::Session session(model, options);
    for (const Feeds& feeds : one.feeds) {
      const Feeds given = session.run(feeds);
      if (!one.refused.empty()) return {judge::Verdict::accepted_invalid, "breaks " + one.refused};
      const JudgedCase found = runs_a_body ? same_as_reference(model, feeds, given)
                                           : judge_outputs(node, model, feeds, given);
      if (!judge::is_pass(found.verdict) || &feeds == &one.feeds.back()) return found;
    }
  } catch (const Error& error) {
    if (!one.refused.empty() && is_refusal(error)) return {judge::Verdict::exact, ""};
    return {is_refusal(error) ? judge::Verdict::rejected_valid : judge::Verdict::crash,
            error.message};
  }
  return {};
}

}  // namespace touchstone::fuzz
