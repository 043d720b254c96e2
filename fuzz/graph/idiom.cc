// Parses idioms line by line.
#include "fuzz/graph/idiom.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/error.h"
#include "core/files.h"

namespace touchstone::fuzz {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Splits at commas outside of brackets and quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c == ',' && depth == 0 && !quoted) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

class IdiomParser {
 public:
  IdiomParser(const std::string& text, std::string file) : lines_(text), file_(std::move(file)) {}

  std::vector<Idiom> all() {
    std::vector<Idiom> idioms;
    while (next()) {
      if (line_.starts_with("idiom ") || line_.starts_with("adapter ")) {
        idioms.push_back(header());
      } else if (idioms.empty()) {
        fail("an idiom's header is wanted first");
      } else if (line_.starts_with("sizes ")) {
        sizes(idioms.back());
      } else if (is_hole()) {
        idioms.back().holes.push_back(hole());
      } else {
        idioms.back().statements.push_back(statement());
      }
    }
    return idioms;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::usage, place() + ": '" + line_ + "': " + why);
  }
  std::string place() const { return file_ + ":" + std::to_string(number_); }

  bool next() {
    for (std::string raw; std::getline(lines_, raw);) {
      ++number_;
      line_ = trimmed(raw.substr(0, raw.find('#')));
      if (!line_.empty()) return true;
    }
    return false;
  }

  Index number(const std::string& text) const {
    Index value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) fail("a number is wanted");
    return value;
  }

  Idiom header() const {
    std::istringstream words(line_);
    Idiom made;
    std::string word, given;
    words >> word;
    if (word == "adapter") words >> made.adapts;
    words >> made.name;
    while (words >> word >> given) {
      if (word == "since") {
        made.since = number(given);
      } else if (word == "until") {
        made.until = number(given);
      } else {
        fail("since or until is wanted");
      }
    }
    if (made.name.empty()) fail("a name is wanted");
    return made;
  }

  // "sizes H=1..3 P=1..9?"
  void sizes(Idiom& idiom) const {
    std::istringstream words(line_.substr(6));
    for (std::string word; words >> word;) {
      SizeRange made;
      const std::size_t equals = word.find('='), dots = word.find("..");
      if (equals == std::string::npos || dots == std::string::npos)
        fail("NAME=LOW..HIGH is wanted");
      if (word.back() == '?') {
        made.dynamic = true;
        word.pop_back();
      }
      made.name = word.substr(0, equals);
      made.low = number(word.substr(equals + 1, dots - equals - 1));
      made.high = number(word.substr(dots + 2));
      if (made.low > made.high) fail("an empty range");
      idiom.sizes.push_back(made);
    }
  }

  bool is_hole() const {
    const std::size_t colon = line_.find(": ");
    return colon != std::string::npos && line_.find_first_of("=([ ") > colon;
  }

  // "x: float[...,C]~unit"
  Hole hole() const {
    Hole made;
    const std::size_t colon = line_.find(": ");
    made.name = line_.substr(0, colon);
    const std::string type = line_.substr(colon + 2);
    const std::size_t open = type.find('['), close = type.find(']');
    if (open == std::string::npos || close == std::string::npos) fail("extents are wanted");
    made.element = type.substr(0, open);
    made.dims = split(type.substr(open + 1, close - open - 1));
    if (!made.dims.empty() && made.dims.front() == "...") {
      made.leading = true;
      made.dims.erase(made.dims.begin());
    }
    if (close + 1 < type.size()) {
      if (type[close + 1] != '~') fail("a regime is wanted");
      made.regime = type.substr(close + 2);
    }
    return made;
  }

  Statement statement() {
    Statement made;
    made.place = place();
    if (line_.starts_with("body ") || line_.starts_with("function ")) {
      made.kind = line_[0] == 'b' ? Statement::Kind::body : Statement::Kind::function;
      block(made);
      return made;
    }
    const std::size_t equals = line_.find(" = ");
    if (equals == std::string::npos) fail("NAMES = Operator(..) is wanted");
    made.outputs = split(line_.substr(0, equals));
    const std::string right = line_.substr(equals + 3);
    if (right[0] == '*') {
      made.kind = Statement::Kind::constant;
      made.ports = {right};
      return made;
    }
    const std::size_t open = right.find('(');
    if (open == std::string::npos) fail("a parenthesis is wanted");
    made.op = right.substr(0, open);
    std::size_t close = open;
    for (int depth = 0; close < right.size(); ++close) {
      depth += (right[close] == '(') - (right[close] == ')');
      if (depth == 0) break;
    }
    if (close == right.size()) fail("a closing parenthesis is wanted");
    made.ports = split(right.substr(open + 1, close - open - 1));
    if (made.op == "any") made.kind = Statement::Kind::chain;
    attributes(made, right.substr(close + 1));
    return made;
  }

  void attributes(Statement& made, const std::string& text) const {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const std::size_t mark = word.find("=@");
      if (mark != std::string::npos) {
        made.graphs.emplace_back(word.substr(0, mark), word.substr(mark + 2));
      } else {
        made.attributes += " " + word;
      }
    }
  }

  // "body step(i=zero, acc=x)", its statements, "return acc" and "end".
  void block(Statement& made) {
    const std::size_t space = line_.find(' '), open = line_.find('('), close = line_.rfind(')');
    if (open == std::string::npos || close == std::string::npos) fail("parameters are wanted");
    made.outputs = {line_.substr(space + 1, open - space - 1)};
    for (const std::string& one : split(line_.substr(open + 1, close - open - 1))) {
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos) fail("NAME=VALUE is wanted");
      made.parameters.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    }
    while (next()) {
      if (line_ == "end") return;
      if (line_.starts_with("return ")) {
        made.results = split(line_.substr(7));
      } else {
        made.inner.push_back(statement());
      }
    }
    fail("end is wanted");
  }

  std::istringstream lines_;
  std::string file_, line_;
  int number_ = 0;
};

}  // namespace

std::vector<Idiom> parse_idioms(const std::string& text, const std::string& file) {
  return IdiomParser(text, file).all();
}

std::vector<Idiom> read_idioms(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorKind::file, "'" + folder.string() + "' is no folder of idioms");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".idioms") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Idiom> all;
  for (const std::filesystem::path& file : files) {
    const std::string text = open_trusted(file).read_all(Limits::trusted());
    for (Idiom& one : parse_idioms(text, file.filename().string())) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace touchstone::fuzz
