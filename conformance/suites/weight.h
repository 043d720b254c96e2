// Estimates the cost of a case's model, so that the slowest cases start first.
#pragma once

#include <filesystem>

#include "core/shape.h"

namespace touchstone::suites {

// Returns the number of elements of the model's initializers. Short integer vectors among them also
// count as shapes of tensors filled at run time, as in the suites' light models. Returns 0 for a
// file that is no model; a large file is not read but counted as floats.
Index weight_of_model(const std::filesystem::path& model);

}  // namespace touchstone::suites
