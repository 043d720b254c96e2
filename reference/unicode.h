// Unicode strings: UTF-8 validation, case mapping and white space. Works per character by the
// mappings of the Unicode database, regardless of the locale.
#pragma once

#include <string>
#include <string_view>

namespace touchstone {

enum class LetterCase { unchanged, lower, upper };

bool is_utf8(std::string_view text);
std::string cased(std::string_view utf8, LetterCase to);

// Byte length of the white space character (property White_Space) that `utf8` starts with; 0 if
// there is none.
std::size_t leading_space(std::string_view utf8);

}  // namespace touchstone
