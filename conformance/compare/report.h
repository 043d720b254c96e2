// A comparison as one JSON object: "schema": "touchstone.compare/1".
#pragma once

#include "conformance/compare/compare.h"
#include "core/json.h"

namespace touchstone::compare {

nlohmann::ordered_json to_json(const Distance& distance);
nlohmann::ordered_json to_json(const Model& model, const Compared& compared);

}  // namespace touchstone::compare
