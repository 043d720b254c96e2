// Runs a case on the fast executor in this process and judges its outputs by the definition.
#pragma once

#include <string>

#include "conformance/judge/verdict.h"
#include "fuzz/case.h"
#include "optimized/session.h"

namespace touchstone::fuzz {

struct JudgedCase {
  judge::Verdict verdict = judge::Verdict::open;
  std::string detail;
};

// A refused case passes if the executor refuses it as an invalid model, input or call.
JudgedCase judge_on_fast(const Case& one, const optimized::SessionOptions& options);

}  // namespace touchstone::fuzz
