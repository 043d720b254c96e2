// Saving with external data.
#pragma once

#include <filesystem>

#include "model/graph.h"

namespace touchstone {

// Writes the data of the main graph's initializers to FILE.data, without gaps, and the rest like
// save_model. Throws Error (file).
void save_model_and_data(const Model& model, const std::filesystem::path& file);

}  // namespace touchstone
