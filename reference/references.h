// Substitutes attribute references in a function's body by the attributes of the call.
#pragma once

#include <map>
#include <string>

#include "model/graph.h"

namespace touchstone {

using Attributes = std::map<std::string, Attribute>;

bool has_references(const Node& node);

// Returns the node with its references substituted; attributes that the caller omits are omitted
// here too.
Node bound(const Node& node, const Attributes& given);

// Attributes visible in a function's body: those of the call, and defaults for omitted ones.
Attributes attributes_of_call(const Node& node);

}  // namespace touchstone
