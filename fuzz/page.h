// The results of campaigns as one self-contained HTML file.
#pragma once

#include <string>

#include "fuzz/state.h"

namespace touchstone::fuzz {

std::string html_page(const State& state);

}  // namespace touchstone::fuzz
