// Questions, errata and findings beside the outcomes that they explain: spec/questions,
// spec/errata, docs/findings, written into the command by codegen. An explanation never changes a
// verdict.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results.h"

namespace touchstone {

struct Explanation {
  std::string_view id, title;  // E003
  std::string_view target;     // onnxruntime, whatever its options; "": any
  std::string_view outcomes;   // "wrong-value/pass pass/mistrusted"
  std::string_view suite;      // onnx@1.12.0
  std::string_view pattern;    // of the names of cases
};
std::span<const Explanation> explanations();  // generated

// COMPAT/VERDICT, where every passing verdict is "pass": "pass/mistrusted". A plain pass is
// "pass/pass".
std::string outcome(const CaseResult& result);

// The ids of all that explain this outcome of a case on a target, errata first: an explanation of
// one outcome says nothing of another. A case of several releases is explained by a row of any.
std::vector<std::string> explained_by(std::string_view target, std::span<const Place> places,
                                      std::string_view outcome,
                                      std::span<const Explanation> table = explanations());
std::vector<std::string> explained_by(std::string_view target, std::string_view suite,
                                      const CaseResult& result);

// Cases that are no plain pass: a fail, one that the judge mistrusts or cannot read, one that the
// suite's own rule fails.
struct ToExplain {
  Index cases = 0;
  Index unexplained = 0;   // those whose outcome no question, no erratum and no finding explains
  Index target_fault = 0;  // fail verdicts that no erratum proves to be the suite's own fault
};
ToExplain to_explain(const TargetRun& run);

}  // namespace touchstone
