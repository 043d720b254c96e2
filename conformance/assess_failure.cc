// Assesses answers without outputs, and combines the assessments of one case.
#include <algorithm>

#include "conformance/assess.h"
#include "conformance/results.h"

namespace touchstone::conformance {
namespace {

Assessment refused(const targets::Answer& answer) {
  const std::string& why = answer.detail;
  if (answer.error == ErrorKind::unsupported) return {"unsupported", "unsupported", why, {}};
  if (answer.phase == targets::Phase::feed)
    return {"error", "harness", "the case's inputs cannot be read: " + why, {}};
  switch (answer.error) {
    case ErrorKind::usage:
    case ErrorKind::invalid_model:
    case ErrorKind::invalid_input:
    case ErrorKind::limit:
      return {"rejected-valid", "rejected-valid", why, {}};
    case ErrorKind::out_of_memory:
      return {"error", "out-of-memory", why, {}};
    case ErrorKind::file:
      return {"error", "harness", why, {}};
    case ErrorKind::unsupported:
    case ErrorKind::cancelled:
    case ErrorKind::internal:
      break;
  }
  return {"error", "crash", why, {}};
}

}  // namespace

Assessment assess_failure(const targets::Answer& answer) {
  switch (answer.kind) {
    case targets::Answer::Kind::refused:
      return refused(answer);
    case targets::Answer::Kind::died:
      return {"crash", "crash", answer.detail, {}};
    case targets::Answer::Kind::garbled:
      return {"crash", "crash", answer.detail, {}};
    case targets::Answer::Kind::late:
      return {"timeout", "timeout", answer.detail, {}};
    case targets::Answer::Kind::outputs:
    case targets::Answer::Kind::differed:
    case targets::Answer::Kind::wrote_input:
    case targets::Answer::Kind::expected:
      break;
  }
  BUG("an answer with outputs is no failure");
}

Assessment worse(const Assessment& a, const Assessment& b) {
  const judge::Verdict left = verdict_named(a.verdict), right = verdict_named(b.verdict);
  Assessment both = judge::worse(left, right) == left ? a : b;
  both.compat = a.compat != "pass" ? a.compat : b.compat;
  if (a.utilisation && b.utilisation) {
    both.utilisation = std::max(*a.utilisation, *b.utilisation);
  } else {
    both.utilisation = a.utilisation ? a.utilisation : b.utilisation;
  }
  both.judged = a.judged ? a.judged : b.judged;
  if (a.judged && b.judged) {
    both.judged->elements += b.judged->elements;
    both.judged->open += b.judged->open;
    both.judged->resolution = std::max(a.judged->resolution, b.judged->resolution);
  }
  both.detail = a.detail.empty() || a.detail == b.detail ? b.detail
                : b.detail.empty()                       ? a.detail
                                                         : a.detail + "; " + b.detail;
  return both;
}

}  // namespace touchstone::conformance
