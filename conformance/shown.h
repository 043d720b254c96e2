// Selects the first elements of outputs, with the expected ones, for a report that shows values.
#pragma once

#include <string>
#include <vector>

#include "conformance/results.h"
#include "core/tensor.h"

namespace touchstone::conformance {

// Returns at most `most` rows; differing elements come first. An absent value has no rows.
std::vector<Shown> show(const std::string& name, const Value& expected, const Value& actual,
                        std::size_t most);

}  // namespace touchstone::conformance
