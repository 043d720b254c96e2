// Integer formulas of the idioms: "4*C", "(K-1)/2".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/shape.h"

namespace touchstone::fuzz {

using SizeByName = std::function<Index(const std::string& name)>;

// Computes a formula of numbers, names, + - * / %, min(..), max(..), floor(..) and parentheses; /
// rounds down. Throws Error (usage) if it is malformed.
Index compute_size(std::string_view formula, const SizeByName& size);

}  // namespace touchstone::fuzz
