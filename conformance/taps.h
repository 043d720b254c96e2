// Taps on disk: the values that a runtime had at every node, with an index of the nodes.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "conformance/blame.h"

namespace touchstone::conformance {

using LoadValue = std::function<Value(const std::filesystem::path& file, const ValueType& type)>;

// Reads taps. taps.json, as `run --tap` writes it, names every node that ran, in bodies too.
// Without it values.json maps names of the main graph to files, which other runtimes can provide.
// Values are loaded on demand.
std::vector<TappedNode> read_taps(const Model& model, const std::filesystem::path& folder,
                                  const LoadValue& load);

}  // namespace touchstone::conformance
