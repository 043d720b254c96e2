// Judge for tests of sessions. conformance/ depends on this folder, so tests/fast/session_judge.cc
// defines the function for the program.
#pragma once

#include <map>
#include <string>

#include "model/graph.h"

namespace touchstone {

// Returns the reason why the judge refuses a run's outputs or cannot decide; "" if it accepts them.
std::string why_refused(const Model& model, const std::map<std::string, Value>& feeds,
                        const std::map<std::string, Value>& outputs);

}  // namespace touchstone
