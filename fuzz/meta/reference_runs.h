// Outputs of the reference for a case.
#pragma once

#include <string>
#include <vector>

#include "conformance/judge/judge.h"
#include "fuzz/case.h"

namespace touchstone::fuzz {

// Returns the outputs of each run, within the limits of a case. Throws Error.
std::vector<Feeds> reference_runs(const Case& one);

// Returns the name of the first output of the case that has other bits in `made`, "" if none has.
// The payload of a NaN is ignored.
std::string first_other_output(const Case& one, const Feeds& expected, const Feeds& made,
                               judge::ZeroSign zeros);

}  // namespace touchstone::fuzz
