// Recursive descent over the text, with overflow checked.
#include "fuzz/graph/size_formula.h"

#include <algorithm>
#include <charconv>

#include "core/checked.h"
#include "core/error.h"
#include "reference/lists.h"

namespace touchstone::fuzz {
namespace {

class FormulaParser {
 public:
  FormulaParser(std::string_view text, const SizeByName& size) : text_(text), size_(size) {}

  Index whole() {
    const Checked result = sum(0);
    if (at_ < text_.size()) fail();
    return result.value();
  }

 private:
  static constexpr int max_depth = 32;

  [[noreturn]] void fail() const {
    throw Error(ErrorKind::usage, "'" + std::string(text_) + "' is no formula of sizes");
  }
  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Checked sum(int depth) {
    Checked result = term(depth);
    for (;;) {
      if (take('+')) {
        result = result + term(depth);
      } else if (take('-')) {
        result = result - term(depth);
      } else {
        return result;
      }
    }
  }

  Checked term(int depth) {
    Checked result = factor(depth);
    for (;;) {
      if (take('*')) {
        result = result * factor(depth);
      } else if (take('/')) {
        result = result / factor(depth);
      } else if (take('%')) {
        result = mod(result.value(), factor(depth).value());
      } else {
        return result;
      }
    }
  }

  Checked factor(int depth) {
    if (depth > max_depth) fail();
    if (take('-')) return Checked(0) - factor(depth + 1);
    if (take('(')) {
      const Checked inner = sum(depth + 1);
      if (!take(')')) fail();
      return inner;
    }
    const std::size_t end =
        std::min(text_.find_first_not_of(
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at_),
                 text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word.empty()) fail();
    at_ = end;
    Index number = 0;
    const auto [stop, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failed == std::errc() && stop == word.data() + word.size()) return number;
    if (take('(')) return called(word, depth);
    return size_(std::string(word));
  }

  Checked called(std::string_view function, int depth) {
    if (function != "min" && function != "max" && function != "floor") fail();
    Index result = sum(depth + 1).value();
    while (function != "floor" && take(',')) {
      const Index next = sum(depth + 1).value();
      result = function == "min" ? std::min(result, next) : std::max(result, next);
    }
    if (!take(')')) fail();
    return result;
  }

  std::string_view text_;
  const SizeByName& size_;
  std::size_t at_ = 0;
};

}  // namespace

Index compute_size(std::string_view formula, const SizeByName& size) {
  return FormulaParser(formula, size).whole();
}

}  // namespace touchstone::fuzz
