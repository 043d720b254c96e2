// Edits the text of lines. An edited line may not parse, or may violate a rule.
#include "fuzz/line_edit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "core/files.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest = 2000;  // of a line

struct Part {
  std::size_t at, size;
};

// The position after the ports, where the attributes begin.
std::size_t end_of_ports(const std::string& line) {
  int depth = 0;
  for (std::size_t k = 0; k < line.size(); ++k) {
    depth += line[k] == '(';
    depth -= line[k] == ')';
    if (depth == 0 && line[k] == ')') return k + 1;
  }
  return line.size();
}

// Runs of digits, with their sign, that are not part of a word.
std::vector<Part> numbers_in(const std::string& line, std::size_t first, std::size_t end) {
  const auto in_word = [&](std::size_t k) {
    const auto c = static_cast<unsigned char>(line[k]);
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  };
  std::vector<Part> found;
  for (std::size_t k = first; k < end; ++k) {
    if (std::isdigit(static_cast<unsigned char>(line[k])) == 0) continue;
    std::size_t begin = k;
    while (k < end && in_word(k)) ++k;
    const bool whole = std::all_of(line.begin() + static_cast<std::ptrdiff_t>(begin),
                                   line.begin() + static_cast<std::ptrdiff_t>(k),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    if (begin > 0 && (line[begin - 1] == '-' || line[begin - 1] == '+')) --begin;
    if (whole && (begin == 0 || !in_word(begin - 1))) found.push_back({begin, k - begin});
  }
  return found;
}

// Numbers of the ports: between brackets they are sizes, between braces elements.
std::vector<Part> numbers_between(const std::string& line, char open, char close) {
  const std::size_t end = end_of_ports(line);
  std::vector<Part> found;
  for (std::size_t k = line.find(open); k < end; k = line.find(open, k + 1)) {
    const std::size_t until = std::min(line.find(close, k), end);
    for (const Part part : numbers_in(line, k, until)) found.push_back(part);
  }
  return found;
}

void replace(std::string& line, const std::vector<Part>& parts, const std::string& by,
             Random& random) {
  if (parts.empty()) return;
  const Part part = random.pick(parts);
  line.replace(part.at, part.size, by);
}

// The ports of a line, split at commas outside all brackets.
std::vector<Part> ports_of(const std::string& line) {
  std::vector<Part> found;
  const std::size_t first = line.find('('), end = end_of_ports(line);
  if (first == std::string::npos) return found;
  int depth = 0;
  for (std::size_t k = first, begin = first + 1; k < end; ++k) {
    depth += line[k] == '(' || line[k] == '[' || line[k] == '{';
    const bool closes = line[k] == ')' || line[k] == ']' || line[k] == '}';
    depth -= closes;
    if ((line[k] == ',' && depth == 1) || depth == 0) {
      found.push_back({begin, k - begin});
      begin = k + 1;
      while (begin < end && line[begin] == ' ') ++begin;
    }
  }
  return found;
}

void swap_regime(std::string& line, Random& random) {
  static const std::array<std::string, 8> regimes{"whole", "special", "giant", "real",
                                                  "size",  "two",     "logs",  "constant"};
  std::vector<Part> found;
  for (std::size_t k = line.find('~'); k != std::string::npos; k = line.find('~', k + 1)) {
    std::size_t end = k + 1;
    while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end])) != 0) ++end;
    found.push_back({k + 1, end - k - 1});
  }
  replace(line, found, random.pick(regimes), random);
}

void change_port(std::string& line, const std::vector<std::string>& same, Random& random) {
  const std::vector<Part> ports = ports_of(line);
  if (ports.empty()) return;
  const auto which = static_cast<std::size_t>(random.below(static_cast<Index>(ports.size())));
  const Part part = ports[which];
  const std::string port = line.substr(part.at, part.size);
  if (random.one_in(3)) {  // toggles between an initializer and an input
    line.replace(part.at, part.size, port.starts_with('*') ? port.substr(1) : "*" + port);
  } else if (random.one_in(5)) {
    line.replace(part.at, part.size, "_");
  } else {  // takes a port of another line
    const std::string& other = random.pick(same);
    const std::vector<Part> theirs = ports_of(other);
    if (theirs.size() != ports.size()) return;
    line.replace(part.at, part.size, other.substr(theirs[which].at, theirs[which].size));
  }
}

void take_attributes(std::string& line, const std::vector<std::string>& same, Random& random) {
  const std::string& other = random.pick(same);
  line = line.substr(0, end_of_ports(line)) + other.substr(end_of_ports(other));
}

std::string without_rule(const std::string& line) {
  const std::string rule = suites::rule_of_line(line);
  return rule.empty() ? line : line.substr(0, line.rfind(" !"));
}

}  // namespace

Index odd_number(Random& random) {
  constexpr Index largest = std::numeric_limits<Index>::max();
  constexpr std::array<Index, 26> numbers{0,
                                          1,
                                          2,
                                          3,
                                          -1,
                                          -2,
                                          -3,
                                          4,
                                          5,
                                          8,
                                          15,
                                          16,
                                          17,
                                          64,
                                          100,
                                          1000,
                                          1LL << 31,
                                          -(1LL << 31),
                                          1LL << 32,
                                          1LL << 40,
                                          1LL << 61,
                                          1LL << 62,
                                          largest,
                                          -largest - 1,
                                          (1LL << 31) - 1,
                                          65536};
  return random.pick(numbers);
}

std::string mutated(std::string line, const std::vector<std::string>& same, Random& random) {
  const Index count = 1 + random.below(3);
  for (Index k = 0; k < count; ++k) {
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::vector<Part> parts = numbers_in(line, end_of_ports(line), line.size());
        replace(line, parts, std::to_string(odd_number(random)), random);
        break;
      }
      case 3:
        replace(line, numbers_between(line, '{', '}'), std::to_string(odd_number(random)), random);
        break;
      case 4:
        replace(line, numbers_between(line, '[', ']'), std::to_string(random.below(19)), random);
        break;
      case 5:
        swap_regime(line, random);
        break;
      case 6:
        change_port(line, same, random);
        break;
      default:
        take_attributes(line, same, random);
    }
  }
  return line;
}

std::map<std::string, std::vector<std::string>> lines_by_operator(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> by_operator;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".cases") continue;
    const std::string all = open_trusted(entry.path()).read_all(Limits::trusted());
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find('\n', at), all.size());
      const std::string line = all.substr(at, end - at);
      at = end + 1;
      if (line.empty() || line[0] == '#' || line.size() > longest) continue;
      by_operator[line.substr(0, line.find('('))].push_back(without_rule(line));
    }
  }
  for (auto& [name, lines] : by_operator) std::sort(lines.begin(), lines.end());
  if (by_operator.empty()) throw Error(ErrorKind::file, "there is no line to mutate");
  return by_operator;
}

}  // namespace touchstone::fuzz
