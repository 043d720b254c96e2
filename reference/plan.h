// Checks before a model runs: nodes that cannot run, and the last use of each value.
#pragma once

#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// Throws Error for the first node that breaks a rule of arity or attributes, then one that names
// all operators without a kernel. Covers everything that the main graph can reach.
void refuse_what_cannot_run(const Model& model);

// For each node the names whose values are dead once it has run. Captured outer names are not
// among them.
using Lifetimes = std::vector<std::vector<std::string>>;
Lifetimes plan_lifetimes(const std::vector<Node>& nodes, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);

}  // namespace touchstone
