// Judges the reference's own outputs of a case, and finds the mutants that the case kills.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "conformance/judge/verdict.h"
#include "tests/lines/faults.h"

namespace touchstone {

struct KilledMutants {
  judge::Verdict verdict = judge::Verdict::unsupported;  // of the reference's own outputs
  // the mutants that the judge refuses, except known ones; empty if the judge has no verdict on the
  // reference's outputs
  std::vector<std::string> faults;
};

// Finds the mutants of `right`, whose node must be resolved; those in `known` are skipped.
KilledMutants find_killed_mutants(const Given& right, const std::set<std::string>& known);

}  // namespace touchstone
