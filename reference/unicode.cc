// Implements Unicode functions on utf8proc, which holds the database.
#include "reference/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace touchstone {
namespace {

// Decodes the first character and returns its length in bytes: not positive if it is not UTF-8.
utf8proc_ssize_t first(std::string_view text, utf8proc_int32_t& character) {
  return utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                          static_cast<utf8proc_ssize_t>(text.size()), &character);
}

// The database has no single upper-case character for this one, but the library returns one.
constexpr utf8proc_int32_t sharp_s = 0xdf;

bool is_space(utf8proc_int32_t character) {
  if ((character >= 0x09 && character <= 0x0d) || character == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

}  // namespace

bool is_utf8(std::string_view text) {
  utf8proc_int32_t character = 0;
  while (!text.empty()) {
    const utf8proc_ssize_t size = first(text, character);
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::string cased(std::string_view utf8, LetterCase to) {
  std::string made;
  while (!utf8.empty()) {
    utf8proc_int32_t character = 0;
    const auto size =
        static_cast<std::size_t>(std::max<utf8proc_ssize_t>(first(utf8, character), 1));
    if (to == LetterCase::lower) character = utf8proc_tolower(character);
    if (to == LetterCase::upper && character != sharp_s) character = utf8proc_toupper(character);
    utf8proc_uint8_t bytes[4];
    made.append(reinterpret_cast<const char*>(bytes),
                static_cast<std::size_t>(utf8proc_encode_char(character, bytes)));
    utf8.remove_prefix(size);
  }
  return made;
}

std::size_t leading_space(std::string_view utf8) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t size = utf8.empty() ? 0 : first(utf8, character);
  return size > 0 && is_space(character) ? static_cast<std::size_t>(size) : 0;
}

}  // namespace touchstone
