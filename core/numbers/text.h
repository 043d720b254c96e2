// Numbers as strings, for casts from and to string and for messages.
#pragma once

#include <string>
#include <string_view>

#include "core/types.h"

namespace touchstone {

// Formats in plain notation, never an exponent, with the fewest digits that parse back to the same
// value of the type: "0.1", "100.0", "nan", "inf", "-inf". Integers have no point; bool is "True"
// or "False".
std::string number_text(Type type, long double value);

// Parses a number, rounded once to the type if that is float or double. Accepts plain or scientific
// notation; "INF", "+INF", "-INF" and "NaN" in any case; for bool also "true" and "false". Ignores
// surrounding spaces. Throws Error (invalid_input) on anything else.
long double parse_number(Type to, std::string_view text);

}  // namespace touchstone
