// Reads lines into drafts and writes them. Elements and attributes stay as written.
#include "fuzz/op/draft.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "conformance/suites/line.h"
#include "conformance/suites/line_cursor.h"
#include "core/error.h"
#include "core/json.h"

namespace touchstone::fuzz {
namespace {

class Reader : private suites::LineCursor {
 public:
  using suites::LineCursor::LineCursor;

  Draft draft() {
    Draft made;
    made.signature = signature();
    expect('(');
    if (!take(')')) {
      do {
        DraftPort port;
        port.held = take('*');
        port.value = value();
        made.ports.push_back(std::move(port));
      } while (take(", "));
      expect(')');
    }
    while (at_ < text_.size()) {
      expect(' ');
      if (take("-> ")) {
        made.outputs = until(" ");
      } else if (take('!')) {
        made.refused = text_.substr(at_);
        at_ = text_.size();
      } else {
        const std::string name = until("=");
        expect('=');
        made.attributes[name] = attribute();
      }
    }
    return made;
  }

  std::vector<std::string> list(char end) {
    std::vector<std::string> items;
    while (!take(end)) {
      if (!items.empty()) expect(',');
      items.push_back(item(std::string(",") + end));
    }
    return items;
  }

 private:
  void skip_quoted() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }
  std::string item(std::string_view ends) {
    if (at_ >= text_.size() || text_[at_] != '"') return until(ends);
    const std::size_t start = at_;
    skip_quoted();
    return text_.substr(start, at_ - start);
  }
  // Text to the next blank outside quotes and brackets.
  std::string attribute() {
    const std::size_t start = at_;
    int depth = 0;
    while (at_ < text_.size() && (depth > 0 || text_[at_] != ' ')) {
      const char c = text_[at_];
      if (c == '"') {
        skip_quoted();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  const Signature* signature() {
    const Signature* found = suites::find_version(until("("));
    if (!found) fail("an operator and its version");
    return found;
  }
  DraftValue value() {
    DraftValue made;
    if (take('_')) return made;
    const std::string_view rest = std::string_view(text_).substr(at_);
    if (rest.starts_with("map(")) {
      made.kind = DraftValue::Kind::verbatim;
      const std::size_t start = at_;
      until("{");
      skip_map();
      made.container = text_.substr(start, at_ - start);
      return made;
    }
    if (rest.starts_with("seq(") || rest.starts_with("optional(")) {
      made.kind = DraftValue::Kind::container;
      made.container = until("{");
      expect('{');
      while (!take('}')) {
        if (!made.items.empty() && !take(", ")) fail("', '");
        made.items.push_back(value());
      }
      return made;
    }
    return tensor();
  }
  void skip_map() {
    do {
      if (text_[at_] == '"')
        skip_quoted();
      else
        ++at_;
    } while (at_ < text_.size() && text_[at_] != '}');
    expect('}');
  }
  DraftValue tensor() {
    DraftValue made;
    made.kind = DraftValue::Kind::tensor;
    made.type = type_by_name(until("["));
    if (made.type == Type::undefined) fail("an element type");
    expect('[');
    while (!take(']')) {
      if (!made.dims.empty()) expect(',');
      std::string size = until(",]");
      const std::size_t equals = size.find('=');
      made.symbols.push_back(equals == std::string::npos ? "" : size.substr(0, equals));
      if (equals != std::string::npos) size = size.substr(equals + 1);
      made.dims.push_back(integer_of(size).value_or(0));
    }
    if (take('~')) {
      made.regime = until(", )}");
    } else {
      expect('{');
      made.elements = list('}');
    }
    return made;
  }
};

void write(std::string& out, const DraftValue& value) {
  if (value.kind == DraftValue::Kind::omitted) {
    out += '_';
  } else if (value.kind == DraftValue::Kind::verbatim) {
    out += value.container;
  } else if (value.kind == DraftValue::Kind::container) {
    out += value.container + "{";
    for (std::size_t k = 0; k < value.items.size(); ++k) {
      if (k > 0) out += ", ";
      write(out, value.items[k]);
    }
    out += '}';
  } else {
    out += std::string(name(value.type)) + "[";
    for (std::size_t k = 0; k < value.dims.size(); ++k) {
      if (k > 0) out += ',';
      if (k < value.symbols.size() && !value.symbols[k].empty()) out += value.symbols[k] + "=";
      out += std::to_string(value.dims[k]);
    }
    out += ']';
    if (!value.regime.empty()) {
      out += "~" + value.regime;
      return;
    }
    out += '{';
    for (std::size_t k = 0; k < value.elements.size(); ++k)
      out += (k > 0 ? "," : "") + value.elements[k];
    out += '}';
  }
}

}  // namespace

Index DraftValue::size() const {
  Index all = kind == Kind::tensor ? 1 : 0;
  if (kind == Kind::tensor) {
    for (const Index n : dims) {
      if (n != 0 && all > (Index{1} << 40) / n) return Index{1} << 40;
      all *= n;
    }
  }
  for (const DraftValue& item : items) all += item.size();
  return all;
}

bool Draft::given(std::size_t port) const {
  return port < ports.size() && ports[port].value.kind != DraftValue::Kind::omitted;
}

DraftPort& Draft::at(std::size_t k) {
  if (k >= ports.size()) ports.resize(k + 1);
  return ports[k];
}

void Draft::trim() {
  while (!ports.empty() && ports.back().value.kind == DraftValue::Kind::omitted) ports.pop_back();
}

std::string name_of(const Signature& signature) {
  return (signature.domain.empty() ? "" : std::string(signature.domain) + ".") +
         std::string(signature.op) + "-" + std::to_string(signature.since);
}

Draft parse_draft(const std::string& line) { return Reader(line).draft(); }

std::string text(const Draft& draft) {
  std::string out = name_of(*draft.signature) + "(";
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    if (k > 0) out += ", ";
    if (draft.ports[k].held) out += '*';
    write(out, draft.ports[k].value);
  }
  out += ')';
  for (const auto& [name, value] : draft.attributes) out += " " + name + "=" + value;
  if (!draft.outputs.empty()) out += " -> " + draft.outputs;
  if (!draft.refused.empty()) out += " !" + draft.refused;
  return out;
}

std::optional<Index> integer_of(const std::string& written) {
  Index value = 0;
  const char* const last = written.data() + written.size();
  const auto [end, wrong] = std::from_chars(written.data(), last, value);
  if (wrong == std::errc() && end == last) return value;
  double real = 0;
  const auto [at, no] = std::from_chars(written.data(), last, real);
  if (no != std::errc() || at != last || !(std::abs(real) < 1e15)) return std::nullopt;
  value = static_cast<Index>(real);
  if (static_cast<double>(value) != real) return std::nullopt;
  return value;
}

std::optional<std::vector<std::string>> split_list(const std::string& written) {
  if (written.size() < 2 || written.front() != '[' || written.back() != ']') return std::nullopt;
  const std::string rest = written.substr(1);
  return Reader(rest).list(']');
}

std::optional<std::vector<Index>> integers_of(const std::vector<std::string>& items) {
  std::vector<Index> all;
  for (const std::string& item : items) {
    const std::optional<Index> value = integer_of(item);
    if (!value) return std::nullopt;
    all.push_back(*value);
  }
  return all;
}

std::string join_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (std::size_t k = 0; k < items.size(); ++k) out += (k > 0 ? "," : "") + items[k];
  return out + "]";
}

std::string join_list(const std::vector<Index>& items) {
  std::vector<std::string> all;
  for (const Index item : items) all.push_back(std::to_string(item));
  return join_list(all);
}

std::string quoted(std::string_view text) { return nlohmann::ordered_json(text).dump(); }

std::optional<std::string> unquoted(const std::string& written) {
  const auto parsed = nlohmann::ordered_json::parse(written, nullptr, false);
  if (!parsed.is_string()) return std::nullopt;
  return parsed.get<std::string>();
}

std::optional<std::vector<Index>> integers_of(const DraftValue& value) {
  if (!value.is_tensor() || !value.regime.empty() || value.size() > 4096) return std::nullopt;
  const auto items = integers_of(value.elements);
  if (!items || (items->empty() && value.size() > 0)) return std::nullopt;
  std::vector<Index> all(static_cast<std::size_t>(value.size()));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = (*items)[k % items->size()];
  return all;
}

void set_integers(DraftValue& value, const std::vector<Index>& list) {
  value.regime.clear();
  value.elements.clear();
  for (const Index item : list) value.elements.push_back(std::to_string(item));
}

}  // namespace touchstone::fuzz
