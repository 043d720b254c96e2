// Conditioning of a node with a body: how far roundings of its inputs move its outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz/case.h"

namespace touchstone::fuzz {

// True if inputs that differ by a few units in the last place move the reference's outputs by an
// eighth of the distance of `expected` and `actual`, at each element; or an eighth of an output's
// elements by half of their size, as then nothing is known of the others. A body that iterates a
// function with steep slopes multiplies each rounding: no tolerance tells faithful from wrong.
bool moves_as_far(const Node& node, const std::function<Value(const std::string&)>& value_of,
                  const std::vector<Value>& expected, const std::vector<Value>& actual);

}  // namespace touchstone::fuzz
