// Serializes an assignment for the judge's process, and the assessment that it returns.
#include "assess.pb.h"
#include "conformance/assess.h"
#include "conformance/targets/wire.h"

namespace touchstone::conformance {

targets::Message ask(const Assignment& assignment) {
  wire::Assignment message;
  message.set_model(assignment.model.string());
  for (const auto& file : assignment.inputs) message.add_inputs(file.string());
  for (const auto& file : assignment.expected) message.add_expected(file.string());
  message.set_rtol(assignment.rtol);
  message.set_atol(assignment.atol);
  message.set_refused(assignment.refused);
  message.set_tapped_model(assignment.tapped_model.string());
  if (assignment.taps) targets::put(*assignment.taps, *message.mutable_taps());
  targets::put(assignment.answer, *message.mutable_answer());
  return message.SerializeAsString();
}

bool read(const targets::Message& message, Assignment& assignment) {
  wire::Assignment came;
  assignment = {};
  if (!came.ParseFromString(message) || came.model().empty()) return false;
  assignment.model = came.model();
  for (const std::string& file : came.inputs()) assignment.inputs.emplace_back(file);
  for (const std::string& file : came.expected()) assignment.expected.emplace_back(file);
  assignment.rtol = came.rtol();
  assignment.atol = came.atol();
  assignment.refused = came.refused();
  assignment.tapped_model = came.tapped_model();
  if (came.has_taps() && !targets::take(came.taps(), assignment.taps.emplace())) return false;
  return targets::take(came.answer(), assignment.answer);
}

targets::Message tell(const Assessment& assessment) {
  wire::Assessment message;
  message.set_compat(assessment.compat);
  message.set_verdict(assessment.verdict);
  message.set_detail(assessment.detail);
  if (assessment.utilisation) message.set_utilisation(*assessment.utilisation);
  message.set_op(assessment.subject.op);
  message.set_since(assessment.subject.since);
  message.set_tapped(assessment.tapped);
  if (assessment.judged) {
    wire::Judged& one = *message.mutable_judged();
    one.set_node(assessment.judged->node);
    one.set_form(assessment.judged->form);
    one.set_type(assessment.judged->type);
    one.set_elements(assessment.judged->elements);
    one.set_open(assessment.judged->open);
    one.set_resolution(assessment.judged->resolution);
  }
  for (const Shown& row : assessment.values) {
    wire::Shown& one = *message.add_values();
    one.set_place(row.place);
    one.set_expected(row.expected);
    one.set_actual(row.actual);
  }
  return message.SerializeAsString();
}

bool read(const targets::Message& message, Assessment& assessment) {
  wire::Assessment came;
  assessment = {};
  if (!came.ParseFromString(message) || came.verdict().empty()) return false;
  assessment.compat = came.compat();
  assessment.verdict = came.verdict();
  assessment.detail = came.detail();
  if (came.has_utilisation()) assessment.utilisation = came.utilisation();
  assessment.subject = {came.op(), came.since()};
  assessment.tapped = came.tapped();
  if (came.has_judged()) {
    const wire::Judged& one = came.judged();
    assessment.judged = {one.node(),     one.form(), one.type(),
                         one.elements(), one.open(), one.resolution()};
  }
  for (const wire::Shown& row : came.values()) {
    assessment.values.push_back({row.place(), row.expected(), row.actual()});
  }
  return true;
}

}  // namespace touchstone::conformance
