// Models as bytes without protobuf, for libraries that hold their models (touchstone bundle).
#pragma once

#include <span>
#include <string>

#include "model/graph.h"

namespace touchstone {

// Returns the model as bytes that from_compact() of the same version of Touchstone reads. What
// resolve() set is left out.
std::string compact(const Model& model);

// Throws Error (invalid_model) if the bytes are of another version, cut off or malformed. The
// result is not resolved.
Model from_compact(std::span<const std::byte> bytes);

}  // namespace touchstone
