// What the judge says of a case: of the reference's own answer, and which slips it tells by it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "conformance/judge/verdict.h"
#include "tests/lines/slips.h"

namespace touchstone {

struct Told {
  Verdict verdict = Verdict::unsupported;  // of what is right
  std::vector<std::string> slips;  // whose answers are refused, but for the known; none if nothing
                                   // is known of what is right
};

// The node is resolved.
Told told_apart(const Given& right, const std::set<std::string>& known);

}  // namespace touchstone
