// The judge for tests of sessions. It stands above this folder: tests/fast/session_judge.cc gives
// it to the program.
#pragma once

#include <map>
#include <string>

#include "model/graph.h"

namespace touchstone {

// Why the judge refuses a run's outputs, or cannot say that they are right; "" if it accepts them.
std::string why_refused(const Model& model, const std::map<std::string, Value>& feeds,
                        const std::map<std::string, Value>& outputs);

}  // namespace touchstone
