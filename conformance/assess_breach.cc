// Assesses negative cases: the definition refuses the model, so every target should.
#include "conformance/assess.h"
#include "conformance/targets/serve.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::conformance {
namespace {

// Returns the id of the violated rule, "" if the definition accepts the case.
std::string broken_rule(const Assignment& assignment) {
  try {
    const Model model = load_valid(assignment.model, Limits::trusted());
    run(model, fed(model, assignment.inputs), RunOptions{Limits::trusted(), {}});
  } catch (const Error& error) {
    return error.rule.empty() ? "no rule: " + error.message : error.rule;
  }
  return "";
}

bool refuses(const targets::Answer& answer) {
  return answer.kind == targets::Answer::Kind::refused && answer.phase != targets::Phase::feed &&
         (answer.error == ErrorKind::usage || answer.error == ErrorKind::invalid_model ||
          answer.error == ErrorKind::invalid_input);
}

}  // namespace

Assessment assess_breach(const Assignment& assignment) {
  const std::string broken = broken_rule(assignment);
  if (broken != assignment.refused) {
    const std::string instead = broken.empty() ? "nothing" : broken;
    return {
        "error", "harness", assignment.refused + " does not refuse this case, but " + instead, {}};
  }
  const targets::Answer& answer = assignment.answer;
  if (refuses(answer)) return {"pass", "exact", "", {}};
  if (answer.has_outputs()) return {"accepted-invalid", "accepted-invalid", "breaks " + broken, {}};
  return assess_failure(answer);
}

}  // namespace touchstone::conformance
