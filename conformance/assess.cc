// Assesses one data set of one case: compares the outputs with the suite's expectation and with the
// standard's definition.
#include "conformance/assess.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "conformance/assess_nodes.h"
#include "conformance/judge/judge.h"
#include "conformance/shown.h"
#include "conformance/single_node.h"
#include "conformance/targets/serve.h"
#include "model/model.h"
#include "reference/feeds.h"

namespace touchstone::conformance {
namespace {

using Values = NamedValues;
constexpr std::size_t max_shown = 4;  // elements of an output

std::vector<Value> load_expected(const Model& model,
                                 const std::vector<std::filesystem::path>& files) {
  if (files.size() > model.graph.outputs.size()) {
    throw Error(ErrorKind::file, fmt::format("the case expects {} outputs, its model has {}",
                                             files.size(), model.graph.outputs.size()));
  }
  std::vector<Value> values;
  for (std::size_t k = 0; k < files.size(); ++k) {
    values.push_back(
        load_value(files[k], model.graph.outputs[k].type.value_or(ValueType{}), Limits::trusted()));
  }
  return values;
}

Value parse_output(const targets::Output& output) {
  const std::string what = "output '" + output.name + "' is ";
  ValueType type;
  try {
    type = parse_value_type(output.type);
  } catch (const Error&) {
    throw NoValue{{"wrong-type",
                   "wrong-type",
                   what + "of type " + output.type + ", which is none of the standard's",
                   {}}};
  }
  try {
    return parse_value(std::as_bytes(std::span(output.bytes)), type, Limits::trusted());
  } catch (const Error& error) {
    throw NoValue{{"error", "crash", what + "no " + output.type + ": " + error.message, {}}};
  }
}

Values named(const Model& model, const std::vector<Value>& expected) {
  Values values;
  for (std::size_t k = 0; k < expected.size(); ++k)
    values[model.graph.outputs[k].name] = expected[k];
  return values;
}

Subject subject_of(const Model& model) {
  if (model.graph.nodes.size() != 1) return {};
  const Node& node = model.graph.nodes.front();
  return {node.domain.empty() ? node.op : node.domain + "." + node.op,
          node.signature ? node.signature->since : 0};
}

// Applies the suite's own tolerance to all outputs and reports the first that fails.
Assessment by_the_suite(const Model& model, const std::vector<Value>& expected, const Values& given,
                        const Assignment& assignment) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string& name = model.graph.outputs[k].name;
    const auto found = given.find(name);
    if (found == given.end())
      return {"error", "unwritten", "output '" + name + "' was not given", {}};
    const judge::Comparison all =
        judge::judge_tolerance(expected[k], found->second, assignment.rtol, assignment.atol);
    if (judge::is_pass(all.verdict)) continue;
    const std::string verdict{touchstone::judge::name(all.verdict)};
    return {verdict, verdict, "suite's rule: " + describe(name, all), {}};
  }
  return {"pass", "open", "", {}};
}

std::vector<Value> of_node(const std::vector<std::string>& names, const Values& values) {
  std::vector<Value> picked;
  for (const std::string& name : names) {
    const auto found = values.find(name);
    picked.push_back(found == values.end() ? Value{} : found->second);
  }
  return picked;
}

Type first_type(const std::vector<Value>& values) {
  for (const Value& value : values) {
    if (value.is_tensor()) return value.tensor().type();
  }
  return Type::undefined;
}

// Judges the suite's own expectation, for targets that are right but differ from it.
std::string doubt(const Node& node, const std::vector<Value>& inputs, const Model& model,
                  const std::vector<Value>& expected) {
  const judge::NodeJudgement judged =
      judge::judge_node(node, inputs, of_node(node.outputs, named(model, expected)));
  return fmt::format("the suite's own expectation is {}", judge::name(judged.verdict));
}

// Checks the model and its feeds: a suite cannot expect outputs of a case that runtimes may refuse.
// Throws Error.
void hold_to_rules(const Model& model, const Values& inputs) {
  std::vector<Error> breaches = check(model, Limits::trusted());
  if (!breaches.empty()) throw std::move(breaches.front());
  check_feeds(model.graph, inputs);
}

Assessment assess_loaded(const Model& model, const Assignment& assignment) {
  Values known = fed(model, assignment.inputs);
  const std::vector<Value> expected = load_expected(model, assignment.expected);
  const bool itself = assignment.answer.kind == targets::Answer::Kind::expected;
  if (itself) hold_to_rules(model, known);
  const Values given = itself ? named(model, expected) : parse_outputs(assignment.answer.outputs);
  Assessment found = by_the_suite(model, expected, given, assignment);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string& name = model.graph.outputs[k].name;
    const auto value = given.find(name);
    for (Shown& row :
         show(name, expected[k], value == given.end() ? Value{} : value->second, max_shown)) {
      found.values.push_back(std::move(row));
    }
  }
  for (const auto& [name, tensor] : model.graph.initializers) known.emplace(name, tensor);
  for (const auto& [name, sparse] : model.graph.sparse_initializers) known.emplace(name, sparse);

  const std::string why = why_not_judged(model);
  if (!why.empty()) {
    // Runtimes draw from generators of their own, which the suite's rule does not account for.
    const bool drawn = draws(model.graph.nodes);
    if (drawn && found.verdict == judge::name(judge::Verdict::wrong_value))
      found.verdict = judge::name(judge::Verdict::open);
    if (model.graph.nodes.size() > 1 && !itself && found.compat != "error") {
      assess_nodes(model, assignment, known, found);
    } else if (found.detail.empty()) {
      found.detail = why;
    }
    return found;
  }
  const Node& node = model.graph.nodes.front();
  const std::vector<Value> inputs = of_node(node.inputs, known);
  const std::vector<Value> outputs = of_node(node.outputs, given);
  const judge::NodeJudgement judged = judge::judge_node(node, inputs, outputs);
  if (judged.verdict ==
      judge::Verdict::unsupported) {  // the judge does not support it; the target gave outputs
    if (found.verdict == judge::name(judge::Verdict::wrong_value))
      found.verdict = judge::name(judge::Verdict::open);
    found.detail = judged.detail + (found.detail.empty() ? "" : "; " + found.detail);
    return found;
  }
  const std::string compat = found.compat;
  found.verdict = judge::name(judged.verdict);
  found.detail = describe(node, judged);
  found.utilisation = utilisation(judged);
  found.judged = facts_of(node, judged, first_type(outputs));
  if (judge::is_pass(judged.verdict) && compat != "pass") {
    const std::string as =
        judged.question.empty() ? "" : "right as " + judged.question + " leaves it; ";
    found.detail = as + doubt(node, inputs, model, expected);
  }
  return found;
}

// Assesses a suite's expectation of outputs for a case that the standard forbids.
Assessment cannot_be_expected(const Error& error) {
  Assessment found = assess_failure(
      {.kind = targets::Answer::Kind::refused, .error = error.kind, .detail = error.message});
  if (found.verdict != judge::name(judge::Verdict::rejected_valid)) return found;
  found.compat = "pass";
  found.verdict = judge::name(judge::Verdict::accepted_invalid);
  return found;
}

}  // namespace

Values parse_outputs(const std::vector<targets::Output>& outputs) {
  Values values;
  for (const targets::Output& output : outputs) values[output.name] = parse_output(output);
  return values;
}

bool draws(const std::vector<Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    if (node.function) return draws(node.function->nodes);
    if (node.signature && node.signature->kind == "random") return true;
    return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
      const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute.second.is);
      return graph && draws((*graph)->nodes);
    });
  });
}

Values fed(const Model& model, const std::vector<std::filesystem::path>& files) {
  std::vector<targets::Port> ports;
  for (const ValueInfo& input : model.graph.inputs) {
    ports.push_back({input.name, input.type.value_or(ValueType{}),
                     model.graph.initializers.contains(input.name)});
  }
  ports = targets::fed_ports(ports, files.size());
  Values values;
  for (std::size_t k = 0; k < ports.size(); ++k) {
    values[ports[k].name] = load_value(files[k], ports[k].type, Limits::trusted());
  }
  return values;
}

Assessment assess(const Assignment& assignment) {
  const targets::Answer& answer = assignment.answer;
  Assessment found;
  Subject subject;
  try {
    Model model = load_model(assignment.model, Limits::trusted());
    subject = subject_of(model);
    resolve(model);
    subject = subject_of(model);
    found = !assignment.refused.empty() ? assess_breach(assignment)
            : answer.has_outputs()      ? assess_loaded(model, assignment)
                                        : assess_failure(answer);
    // Outputs of an invalid case have no value that could differ.
    if (answer.kind == targets::Answer::Kind::differed && assignment.refused.empty() &&
        !draws(model.graph.nodes)) {
      found.verdict = judge::name(judge::Verdict::nondeterministic);
      found.detail = answer.detail;
    }
  } catch (const NoValue& none) {
    found = none.is;
  } catch (const Error& error) {
    found = answer.kind == targets::Answer::Kind::expected ? cannot_be_expected(error)
            : answer.has_outputs() ? Assessment{"error", "harness", "judging: " + error.message, {}}
                                   : assess_failure(answer);
  } catch (const std::bad_alloc&) {
    found = {"error", "harness", "judging: memory ran out", {}};
  }
  if (answer.kind == targets::Answer::Kind::wrote_input) {
    found.verdict = judge::name(judge::Verdict::wrote_input);
    found.detail = answer.detail;
  }
  if (!answer.note.empty())
    found.detail = answer.note + (found.detail.empty() ? "" : "; " + found.detail);
  found.subject = std::move(subject);
  return found;
}

}  // namespace touchstone::conformance
