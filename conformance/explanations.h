// Which question, erratum or finding speaks of a case: spec/questions, spec/errata, docs/findings,
// written into the command by codegen. It is said beside a verdict and never changes one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results.h"

namespace touchstone {

struct Explanation {
  std::string_view id, title;  // E003
  std::string_view target;     // of a finding, which speaks of one runtime; "": of any
  std::string_view suite;      // onnx@1.12.0
  std::string_view pattern;    // of the names of cases
  bool excuses;  // an erratum that proves the expectation wrong: a fail is the suite's
};
std::span<const Explanation> explanations();  // generated

// The ids of all that speak of a case on a target (whatever its options), errata first. A case of
// several releases is explained by what speaks of it in any.
std::vector<std::string> explained_by(std::string_view target, std::span<const Place> places,
                                      std::span<const Explanation> table = explanations());
std::vector<std::string> explained_by(std::string_view target, std::string_view suite,
                                      const CaseResult& result);

// Cases that are no plain pass: a fail, one that the judge mistrusts or cannot read, one that the
// suite's own rule fails.
struct ToExplain {
  Index cases = 0;
  Index unexplained = 0;   // of which no question, no erratum and no finding speaks
  Index target_fault = 0;  // fails but for those that an erratum proves to be the suite's own fault
};
ToExplain to_explain(const TargetRun& run);

}  // namespace touchstone
