// Parts of assess() for cases of several nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/assess.h"

namespace touchstone::conformance {

using NamedValues = std::map<std::string, Value>;

// Thrown if a target's output is no value: its type is not in the standard, or its bytes do not
// match its type.
struct NoValue {
  Assessment is;
};

// Throws NoValue.
NamedValues parse_outputs(const std::vector<targets::Output>& outputs);

// True if a random draw affects the outputs of these nodes, so that two runs may differ.
bool draws(const std::vector<Node>& nodes);

// Assesses a case of several nodes, after the suite's own rule. Writes the tapped model if the
// assignment has a path for it, and judges every node if the assignment has the answer for that
// model.
void assess_nodes(const Model& model, const Assignment& assignment, const NamedValues& feeds,
                  Assessment& found);

}  // namespace touchstone::conformance
