// Splits lines at separators outside all brackets and quotes.
#include "fuzz/line_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <complex>

#include "conformance/suites/line.h"
#include "core/json.h"
#include "core/numbers/convert.h"

namespace touchstone::fuzz {
namespace {

// Returns the parts between separators at depth 0, from `at` to the first closing bracket there.
std::vector<std::string> split_at(std::string_view text, std::size_t& at, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (bool is_quoted = false; at < text.size(); ++at) {
    const char c = text[at];
    if (is_quoted && c == '\\' && at + 1 < text.size()) {
      parts.back() += c;
      parts.back() += text[++at];
      continue;
    }
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted) {
      depth += c == '(' || c == '[' || c == '{';
      const bool closes = c == ')' || c == ']' || c == '}';
      if (closes && depth == 0) return parts;
      depth -= closes;
      if (c == separator && depth == 0) {
        parts.emplace_back();
        continue;
      }
      if (c == ' ' && separator == ',' && parts.back().empty()) continue;
    }
    parts.back() += c;
  }
  return parts;
}

std::string number_text(const Tensor& tensor, Index k) {
  const long double number = number_at(tensor, k);
  const TypeFacts& is = facts(tensor.type());
  if (is.is_float) return fmt::format("{}", static_cast<double>(number));
  if (tensor.type() == Type::uint64) return fmt::format("{}", static_cast<std::uint64_t>(number));
  return fmt::format("{}", static_cast<std::int64_t>(number));
}

}  // namespace

LineText split_line(const std::string& line) {
  LineText made;
  const std::size_t open = std::min(line.find('('), line.size());
  made.head = line.substr(0, open);
  std::size_t at = open + 1;
  made.ports = split_at(line, at, ',');
  if (made.ports.size() == 1 && made.ports.front().empty()) made.ports.clear();
  made.rule = suites::rule_of_line(line);
  const std::size_t end = line.size() - (made.rule.empty() ? 0 : made.rule.size() + 2);
  at += 2;  // past ") "
  if (at >= end) return made;
  const std::string rest = line.substr(at, end - at);
  std::size_t begin = 0;
  const std::vector<std::string> words = split_at(rest, begin, ' ');
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == "->") {
      if (++k < words.size()) made.outputs = words[k];
    } else if (const std::size_t equals = words[k].find('='); equals != std::string::npos) {
      made.attributes.emplace_back(words[k].substr(0, equals), words[k].substr(equals + 1));
    }
  }
  return made;
}

std::string join_line(const LineText& parts) {
  std::string line = parts.head + "(";
  for (std::size_t k = 0; k < parts.ports.size(); ++k)
    line += (k == 0 ? "" : ", ") + parts.ports[k];
  line += ")";
  for (const auto& [name, value] : parts.attributes) line += " " + name + "=" + value;
  if (!parts.outputs.empty()) line += " -> " + parts.outputs;
  if (!parts.rule.empty()) line += " !" + parts.rule;
  return line;
}

bool split_port(const std::string& port, PortText& parts) {
  const std::size_t open = port.find('['), close = port.find(']');
  if (open == std::string::npos || close == std::string::npos || port.find('(') < open)
    return false;
  parts.star = port.starts_with('*') ? "*" : "";
  parts.type = port.substr(parts.star.size(), open - parts.star.size());
  parts.dims = items_of(port.substr(open, close + 1 - open));
  parts.data = port.substr(close + 1);
  return true;
}

std::string join_port(const PortText& parts) {
  return parts.star + parts.type + list_of(parts.dims, '[', ']') + parts.data;
}

Index size_of_dim(const std::string& dim) {
  const std::size_t equals = dim.find('=');
  const std::string size = equals == std::string::npos ? dim : dim.substr(equals + 1);
  Index number = -1;
  std::from_chars(size.data(), size.data() + size.size(), number);
  return number;
}

std::vector<std::string> items_of(std::string_view list) {
  if (list.size() < 3) return {};
  std::size_t at = 1;
  return split_at(list, at, ',');
}

std::string list_of(const std::vector<std::string>& items, char open, char close) {
  return fmt::format("{}{}{}", open, fmt::join(items, ","), close);
}

std::string elements_of(const Tensor& tensor) {
  std::vector<std::string> items;
  for (Index k = 0; k < tensor.size(); ++k) {
    if (tensor.type() == Type::string) {
      items.push_back(nlohmann::ordered_json(tensor.data<std::string>()[k]).dump());
    } else if (tensor.type() == Type::complex64) {
      const std::complex<float> z = tensor.data<std::complex<float>>()[k];
      items.push_back(fmt::format("{},{}", z.real(), z.imag()));
    } else if (tensor.type() == Type::complex128) {
      const std::complex<double> z = tensor.data<std::complex<double>>()[k];
      items.push_back(fmt::format("{},{}", z.real(), z.imag()));
    } else {
      items.push_back(number_text(tensor, k));
    }
  }
  return list_of(items, '{', '}');
}

}  // namespace touchstone::fuzz
