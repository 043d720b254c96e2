// Conversion without a rule: the node stays as it is if its attributes, inputs, outputs and types
// all exist in the other version.
#pragma once

#include <string>

#include "transform/convert/node_match.h"

namespace touchstone::transform {

// Checks the node's types against the parameters of the same name, or else position, in the other
// version. Returns "" if all are admitted, else a message that names the first type that is not.
std::string types_missed(const NodeMatch& found, const Signature& to, bool outputs_too);

// Changes the node's attributes and signature to mean the same in the other version. Returns "" on
// success, else a message that names the obstacle; the node is then partly changed and must be
// discarded.
std::string copy_attributes(const NodeMatch& found, const Signature& to, Node& node);

}  // namespace touchstone::transform
