// The report as one HTML file that needs nothing else: style, script and results stand inside it.
#pragma once

#include <string>

#include "core/json.h"

namespace touchstone {

std::string html_page(const nlohmann::ordered_json& conform_object);

}  // namespace touchstone
