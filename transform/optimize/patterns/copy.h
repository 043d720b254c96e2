// Operator whose output is its input: a graph output of a constant is computed by it.
#pragma once

#include <string_view>

namespace touchstone::transform {

inline constexpr std::string_view copy_operator = "Identity";

}  // namespace touchstone::transform
