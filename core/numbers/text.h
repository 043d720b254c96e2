// Numbers as text, for casts from and to string and for messages.
#pragma once

#include <string>
#include <string_view>

#include "core/types.h"

namespace touchstone {

// Plain notation, never an exponent, with the fewest digits that give the same value of the type
// back: "0.1", "100.0", "nan", "inf", "-inf". Integers without a point; bool is "True" or "False".
std::string number_text(Type type, long double value);

// The number that a text stands for, rounded once to the type where it is float or double. Plain or
// scientific; "INF",
// "+INF", "-INF" and "NaN" in any case; spaces around are ignored; for bool also "true" and
// "false". Throws Error (invalid_input) on anything else.
long double parse_number(Type to, std::string_view text);

}  // namespace touchstone
