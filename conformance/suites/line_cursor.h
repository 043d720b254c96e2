// Reads a line of the spec suite from left to right. Its users are the parsers of values (line.cc)
// and of the fuzzer's drafts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace touchstone::suites {

class LineCursor {
 public:
  explicit LineCursor(std::string text) : text_(std::move(text)) {}

 protected:
  // Throws Error (usage) that names what is wanted at the present position.
  [[noreturn]] void fail(const std::string& wanted) const {
    throw Error(ErrorKind::usage, "the case '" + text_ + "' is not one: " + wanted +
                                      " is wanted at character " + std::to_string(at_ + 1));
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (std::string_view(text_).substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "'");
  }
  // Returns the text before the first of these characters, or all that is left.
  std::string until(std::string_view ends) {
    const std::size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    std::string found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  const std::string text_;
  std::size_t at_ = 0;
};

}  // namespace touchstone::suites
