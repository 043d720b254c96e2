// The parts of assess() that a case of several nodes needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/assess.h"

namespace touchstone {

using NamedValues = std::map<std::string, Value>;

// What a target gave that is no value: its type is no type of the standard, or its bytes are not of
// that type.
struct NoValue {
  Assessment is;
};

// Throws NoValue.
NamedValues parse_outputs(const std::vector<Output>& outputs);

// Whether a draw decides what these nodes make: then two runs may differ.
bool draws(const std::vector<Node>& nodes);

// A case of several nodes, after the suite's own rule. Writes the model that shows every value
// where the assignment has a place for it; judges every node where it has what the target gave for
// that.
void assess_nodes(const Model& model, const Assignment& assignment, const NamedValues& feeds,
                  Assessment& found);

}  // namespace touchstone
