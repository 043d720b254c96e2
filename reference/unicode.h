// Text as Unicode: whether bytes are UTF-8, and what its characters become. Character by character,
// by the mappings of the Unicode database, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace touchstone {

enum class LetterCase { unchanged, lower, upper };

bool is_utf8(std::string_view text);
std::string cased(std::string_view utf8, LetterCase to);

// The bytes of the white space (a character with the property White_Space) that `utf8` starts with;
// 0 if it starts with none.
std::size_t leading_space(std::string_view utf8);

}  // namespace touchstone
