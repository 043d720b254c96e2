// Attributes in a function's body that refer to those of the call.
#pragma once

#include <map>
#include <string>

#include "model/graph.h"

namespace touchstone {

using Attributes = std::map<std::string, Attribute>;

bool has_references(const Node& node);

// A node of a function's body with what its references stand for; what the caller left out is left
// out here too.
Node bound(const Node& node, const Attributes& given);

// What the body of a function sees: the attributes of the call, and defaults for those left out.
Attributes attributes_of_call(const Node& node);

}  // namespace touchstone
