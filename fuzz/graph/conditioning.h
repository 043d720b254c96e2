// Conditioning of a node with a body: how far roundings of its inputs move its outputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz/case.h"

namespace touchstone::fuzz {

// True if roundings explain `actual`. Inputs are moved by a few units in the last place, and
// outputs of the body's nodes are drawn from their bounds. Roundings explain `actual` if these
// change each element of the reference's outputs by an eighth of its distance. They also do if
// these change an eighth of the elements by half of their size: then nothing is known of the
// others. The elements are those of an output, of all, or of what an iterated body makes. A body
// that iterates a function with steep slopes multiplies each rounding, and no tolerance tells
// faithful from wrong.
bool moves_as_far(const Node& node, const std::function<Value(const std::string&)>& value_of,
                  const std::vector<Value>& expected, const std::vector<Value>& actual);

}  // namespace touchstone::fuzz
