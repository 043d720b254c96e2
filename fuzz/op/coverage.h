// Marks of coverage of a draft: version, type binding, rule and values of attributes.
#pragma once

#include <string>
#include <vector>

#include "fuzz/op/draft.h"

namespace touchstone::fuzz {

// "version/Clip-13", "type/Clip-13/T=float", "rule/Clip-13/C1", "attribute/Clip-13/axis=-1".
std::vector<std::string> marks_of(const Draft& draft);

}  // namespace touchstone::fuzz
