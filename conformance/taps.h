// Taps on disk: the values that a runtime had at every node, and which node had them.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "conformance/blame.h"

namespace touchstone {

using LoadValue = std::function<Value(const std::filesystem::path& file, const ValueType& type)>;

// taps.json, as `run --tap` writes it, names every node that ran, in bodies too. Without it
// values.json maps names of the main graph to files, which is all that another runtime can be made
// to give. Values are read when asked for.
std::vector<TappedNode> read_taps(const Model& model, const std::filesystem::path& folder,
                                  const LoadValue& load);

}  // namespace touchstone
