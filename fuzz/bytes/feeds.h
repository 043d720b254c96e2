// Models that an input holds, with feeds of their inputs.
#pragma once

#include <map>
#include <string>

#include "fuzz/bytes/target.h"
#include "model/model.h"

namespace touchstone::bytes {

using Feeds = std::map<std::string, Value>;

// Parses a model and checks it. Throws Error.
Model valid_model(Bytes input, const Limits& limits);

// Small numbers for every input without an initializer. Open sizes are 2. Throws Error for an input
// without a type or a rank.
Feeds feeds_of(const Model& model);

}  // namespace touchstone::bytes
