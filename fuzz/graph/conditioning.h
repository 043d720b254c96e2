// Conditioning of a node with a body: how far roundings of its inputs move its outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz/case.h"

namespace touchstone::fuzz {

// True if inputs that differ by a few units in the last place give the reference outputs as far
// from `expected` as `actual` is, at each element. A body that iterates a function with steep
// slopes multiplies each rounding, so no tolerance tells a faithful run from a wrong one.
bool moves_as_far(const Node& node, const std::function<Value(const std::string&)>& value_of,
                  const std::vector<Value>& expected, const std::vector<Value>& actual);

}  // namespace touchstone::fuzz
