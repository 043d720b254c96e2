// The plain step: a node stays as it is, where its attributes, inputs, outputs and types have a
// place in the other version.
#pragma once

#include <string>

#include "optimized/convert/found.h"

namespace touchstone::conversion {

// Holds the node's types against the parameters of the same name in the other version. "" if they
// are admitted, or else what is missed.
std::string types_missed(const Found& found, const Signature& to, bool outputs_too);

// Changes the node's attributes to say the same in the other version. "" if the node then fits it,
// or else what is missed.
std::string carry(const Found& found, const Signature& to, Node& node);

}  // namespace touchstone::conversion
