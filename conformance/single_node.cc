// Texts of judgements, and the conditions under which a single node can be judged.
#include "conformance/single_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace touchstone::conformance {
namespace {

bool holds_graph(const Attribute& attribute) {
  return std::holds_alternative<std::shared_ptr<const Graph>>(attribute.is) ||
         std::holds_alternative<std::vector<std::shared_ptr<const Graph>>>(attribute.is);
}

}  // namespace

std::string why_not_judged(const Node& node) {
  if (node.function) return node.op + " is a function of the model";
  const bool has_body =
      std::any_of(node.attributes.begin(), node.attributes.end(),
                  [](const auto& attribute) { return holds_graph(attribute.second); });
  return has_body ? node.op + " runs a body, which is not judged from outside" : "";
}

std::string why_not_judged(const Model& model) {
  const std::vector<Node>& nodes = model.graph.nodes;
  if (nodes.size() != 1) return fmt::format("{} nodes: by the suite's rule only", nodes.size());
  const std::vector<std::string>& made = nodes.front().outputs;
  for (const ValueInfo& output : model.graph.outputs) {
    if (std::find(made.begin(), made.end(), output.name) == made.end()) {
      return "output '" + output.name + "' is not the node's: by the suite's rule only";
    }
  }
  return why_not_judged(nodes.front());
}

std::string describe(const std::string& output, const judge::Comparison& comparison) {
  std::string text = fmt::format("output '{}': ", output);
  if (!comparison.detail.empty()) return text + comparison.detail;  // names the element itself
  if (comparison.where < 0) return text + std::string(judge::name(comparison.verdict));
  return text + fmt::format("element {} is {} for {}", comparison.where, comparison.actual,
                            comparison.expected);
}

std::string describe(const Node& node, const judge::NodeJudgement& judgement) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (std::size_t k = 0; k < std::min(node.outputs.size(), judgement.outputs.size()); ++k) {
    const judge::Comparison& one = judgement.outputs[k];
    if (node.outputs[k].empty()) continue;
    if (!judge::is_pass(one.verdict)) {
      add(describe(node.outputs[k], one));
    } else if (one.judged < one.elements) {
      const std::string open = one.open > 0 ? fmt::format(", {} open", one.open) : "";
      add(fmt::format("output '{}': {} of {} elements judged{}", node.outputs[k], one.judged,
                      one.elements, open));
    }
  }
  if (text.empty() && !judge::is_pass(judgement.verdict)) add(judgement.detail);
  if (judgement.cls == Class::fast && judge::is_pass(judgement.verdict))
    add("right in class fast only");
  if (!judgement.formula.empty()) add("by " + judgement.formula);
  if (judgement.flushed) add("subnormals flushed");
  if (!judgement.question.empty()) add("as " + judgement.question + " leaves it");
  return text;
}

std::optional<double> utilisation(const judge::NodeJudgement& judgement) {
  std::optional<double> most;
  for (const judge::Comparison& one : judgement.outputs) {
    const bool bounded = one.verdict == judge::Verdict::within ||
                         one.verdict == judge::Verdict::in_set ||
                         one.verdict == judge::Verdict::wrong_value || one.resolution_median > 0;
    if (one.judged > 0 && bounded) most = std::max(most.value_or(0), one.utilisation_max);
  }
  return most;
}

JudgedNode facts_of(const Node& node, const judge::NodeJudgement& judgement, Type type) {
  JudgedNode facts;
  facts.node = node.op;
  if (node.signature) {
    facts.node += "-" + std::to_string(node.signature->since);
    facts.form = node.signature->form;
  }
  if (type != Type::undefined) facts.type = touchstone::name(type);
  for (const judge::Comparison& one : judgement.outputs) {
    facts.elements += one.judged + one.open;
    facts.open += one.open;
    facts.resolution = std::max(facts.resolution, one.resolution_median);
  }
  return facts;
}

}  // namespace touchstone::conformance
