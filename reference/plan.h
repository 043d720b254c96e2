// What can be known of a model before it runs: which nodes cannot run at all, and how long each
// value is needed.
#pragma once

#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// Throws Error for the first node that breaks a rule of arity or attributes, then, naming all of
// them at once, for operators without a kernel. Looks at everything that the main graph can reach.
void refuse_what_cannot_run(const Model& model);

// For each node the names that nobody needs once it has run. Names from around the nodes are not
// among them.
using Lifetimes = std::vector<std::vector<std::string>>;
Lifetimes plan_lifetimes(const std::vector<Node>& nodes, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs);

}  // namespace touchstone
