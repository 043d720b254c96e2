// Refusals: mutants of the reference that do not support some kind of case, such as inputs of rank
// 3, empty inputs or initializers. A valid case of that kind kills the mutant.
#pragma once

#include <string>
#include <vector>

#include "conformance/suites/line.h"

namespace touchstone {

// The mutants that a valid line kills, such as "no x0 of rank 3". `node`: the line's node.
std::vector<std::string> refusals_of(const suites::Line& line, const Node& node);

}  // namespace touchstone
