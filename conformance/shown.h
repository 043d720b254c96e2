// The first elements of outputs beside the expected ones, for a report that shows values.
#pragma once

#include <string>
#include <vector>

#include "conformance/results.h"
#include "core/tensor.h"

namespace touchstone {

// At most `most` rows; elements that differ come first. An absent value shows nothing.
std::vector<Shown> show(const std::string& name, const Value& expected, const Value& actual,
                        std::size_t most);

}  // namespace touchstone
