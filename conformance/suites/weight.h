// How much a case's model asks for, to begin with what takes longest.
#pragma once

#include <filesystem>

#include "core/shape.h"

namespace touchstone {

// Elements of the model's initializers, and of the shapes that whole numbers among them say to who
// fills such tensors at run time, as the suites' light models do. 0 for a file that is no model; a
// large file is not read but counted as floats.
Index weight_of_model(const std::filesystem::path& model);

}  // namespace touchstone
