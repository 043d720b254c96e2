// The report as one self-contained HTML file: style, script and results are embedded.
#pragma once

#include <string>

#include "core/json.h"

namespace touchstone::report {

std::string html_page(const nlohmann::ordered_json& conform_object);

}  // namespace touchstone::report
