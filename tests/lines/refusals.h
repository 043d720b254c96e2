// Refusals: the other kind of mutant. The reference, but it takes no case of some form: no input of
// three dimensions, none that is empty, none that the model holds. A valid case of that form tells
// it from the definition.
#pragma once

#include <string>
#include <vector>

#include "conformance/suites/line.h"

namespace touchstone {

// Those that a valid line tells: "no x0 of rank 3". `node`: its own.
std::vector<std::string> refusals_of(const Line& line, const Node& node);

}  // namespace touchstone
