// Shortest decimal text of a number: searches for the fewest digits that parse back to the same
// code. For float and double the library's std::to_chars finds the same digits faster.
#include "core/numbers/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/numbers/convert.h"

namespace touchstone {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Returns "d.ddde+XX" of a finite magnitude.
std::string shortest_scientific(Type type, long double magnitude) {
  std::array<char, 64> buffer;
  char* const end = buffer.data() + buffer.size();
  if (type == Type::float32) {
    return {buffer.data(), std::to_chars(buffer.data(), end, static_cast<float>(magnitude),
                                         std::chars_format::scientific)
                               .ptr};
  }
  const auto exact = static_cast<double>(magnitude);
  if (type == Type::float64) {
    return {buffer.data(),
            std::to_chars(buffer.data(), end, exact, std::chars_format::scientific).ptr};
  }
  for (int digits = 0;; ++digits) {
    const auto written =
        std::to_chars(buffer.data(), end, exact, std::chars_format::scientific, digits);
    const std::string_view text(buffer.data(),
                                static_cast<std::size_t>(written.ptr - buffer.data()));
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (digits > 17 || encode(type, back) == encode(type, exact)) return std::string(text);
  }
}

std::string plain(const std::string& scientific) {
  const std::size_t e = scientific.find('e');
  std::string digits = scientific.substr(0, e);
  const int exponent = std::stoi(scientific.substr(e + 1));
  std::erase(digits, '.');
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0') + ".0";
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

[[noreturn]] void refuse(Type to, std::string_view text) {
  throw Error(ErrorKind::invalid_input, "the text '" + std::string(text.substr(0, 80)) +
                                            "' is no number that a " + std::string(name(to)) +
                                            " can be read from")
      .with_help("write a plain or scientific number, INF, +INF, -INF or NaN");
}

// Result for a number outside the range of long double. The sign of its exponent, or else its first
// non-zero digit, distinguishes overflow from underflow.
long double out_of_range(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    return text.find('-', e) == std::string_view::npos
               ? std::numeric_limits<long double>::infinity()
               : 0.0L;
  }
  const std::size_t digit = text.find_first_of("123456789");
  return digit < text.find('.') ? std::numeric_limits<long double>::infinity() : 0.0L;
}

template <class T>
std::from_chars_result read(std::string_view text, long double& value) {
  T read_value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), read_value);
  if (result.ec == std::errc()) value = read_value;
  return result;
}

}  // namespace

std::string number_text(Type type, long double value) {
  const TypeFacts& row = facts(type);
  if (type == Type::boolean) return value != 0 ? "True" : "False";
  if (row.is_integer) {
    return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                     : std::to_string(static_cast<std::uint64_t>(value));
  }
  if (!row.is_float) BUG("the text of a number of no real type");
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  if (value == 0) return sign + "0.0";
  return sign + plain(shortest_scientific(type, std::fabs(value)));
}

long double parse_number(Type to, std::string_view whole) {
  std::string_view text = whole;
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  const std::string word = lower_case(text);
  if (to == Type::boolean && word == "true") return 1;
  if (to == Type::boolean && word == "false") return 0;
  const bool negative = !text.empty() && text.front() == '-';
  const bool is_signed = negative || (!text.empty() && text.front() == '+');
  if (is_signed) text.remove_prefix(1);
  const std::string_view name = std::string_view(word).substr(is_signed ? 1 : 0);
  long double value = 0;
  if (name == "inf" || name == "infinity") {
    value = std::numeric_limits<long double>::infinity();
  } else if (name == "nan") {
    value = std::numeric_limits<long double>::quiet_NaN();
  } else {
    // from_chars would accept a second sign, and names that the standard does not have.
    if (text.empty() ||
        (std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.')) {
      refuse(to, whole);
    }
    std::from_chars_result result{};
    result.ec = std::errc::result_out_of_range;
    if (to == Type::float32) result = read<float>(text, value);
    if (to == Type::float64) result = read<double>(text, value);
    if (result.ec == std::errc::result_out_of_range) result = read<long double>(text, value);
    if (result.ec == std::errc::result_out_of_range) value = out_of_range(text);
    if (result.ec == std::errc::invalid_argument || result.ptr != text.data() + text.size())
      refuse(to, whole);
  }
  return negative ? -value : value;
}

}  // namespace touchstone
