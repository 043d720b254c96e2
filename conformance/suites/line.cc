// Parses a line from left to right; the operator's signature determines the kind of each attribute.
#include "conformance/suites/line.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "conformance/suites/line_cursor.h"
#include "conformance/suites/line_data.h"
#include "core/error.h"
#include "core/json.h"
#include "core/numbers/convert.h"

namespace touchstone::suites {
namespace {

// An element as written: a number or a string.
struct Item {
  long double number = 0;
  std::string text;
  bool is_text = false;
};

// Returns the text without its rule, which is only an expectation: it does not affect the line's
// values.
std::string_view case_of(std::string_view text) {
  const std::string rule = rule_of_line(std::string(text));
  return rule.empty() ? text : text.substr(0, text.size() - rule.size() - 2);
}

class Reader : private LineCursor {
 public:
  explicit Reader(const std::string& text) : LineCursor(text), key_(hash_of_line(case_of(text))) {}

  Line line() {
    Line made;
    made.signature = signature();
    expect('(');
    if (!take(')')) {
      do {
        made.inputs.push_back(port(made.inputs.size()));
      } while (take(", "));
      expect(')');
    }
    while (at_ < text_.size()) {
      expect(' ');
      if (take("-> ")) {
        made.outputs = word("x_");
      } else if (take('!')) {
        made.refused = text_.substr(at_);
        at_ = text_.size();
      } else {
        attribute(made);
      }
    }
    return made;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::string word(std::string_view letters) {
    const std::size_t end = std::min(text_.find_first_not_of(letters, at_), text_.size());
    std::string found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
  }

  const Signature* signature() {
    const Signature* found = find_version(until("("));
    if (!found) {
      at_ = 0;
      fail("an operator and its version");
    }
    return found;
  }

  LinePort port(std::size_t position) {
    LinePort made;
    if (take('_')) return made;
    made.held = take('*');
    made.value = value(key_ + 0x9e3779b97f4a7c15 * (position + 1), &made.dims);
    if (made.held && !made.value.is_tensor()) fail("a tensor behind '*'");
    return made;
  }

  Value value(std::uint64_t key, std::vector<Dim>* dims) {
    for (const std::string_view container : {"seq(", "optional(", "map("}) {
      if (std::string_view(text_).substr(at_).starts_with(container)) return container_value(key);
    }
    return tensor(key, dims);
  }

  Value container_value(std::uint64_t key) {
    const ValueType type = parse_value_type(until("{"));
    expect('{');
    if (++depth_ > max_depth) fail("a value of " + std::to_string(max_depth) + " levels at most");
    Value made = contents(type, key);
    --depth_;
    return made;
  }

  Value contents(const ValueType& type, std::uint64_t key) {
    if (type.kind == ValueType::Kind::map) return map_value(type);
    std::vector<Value> items;
    while (!take('}')) {
      if (!items.empty() && !take(", ")) fail("', '");
      items.push_back(value(key + 0x632be59bd9b4e019 * (items.size() + 1), nullptr));
      if (items.back().type() != *type.inner) fail("a value of type " + text(*type.inner));
    }
    if (type.kind == ValueType::Kind::sequence) return Sequence{*type.inner, std::move(items)};
    if (items.size() > 1) fail("one value at most");
    return Optional{*type.inner,
                    items.empty() ? nullptr : std::make_shared<const Value>(std::move(items[0]))};
  }

  Value map_value(const ValueType& type) {
    Map made{type.element, *type.inner, {}, {}};
    decltype(made.by_string)::Entries by_string;
    decltype(made.by_integer)::Entries by_integer;
    while (!take('}')) {
      if (!(by_integer.empty() && by_string.empty())) expect(',');
      const Item key = item(":");
      expect(':');
      Tensor held(type.inner->element, Shape{});
      put(held, 0, item(",}"));
      if (key.is_text) {
        by_string.emplace_back(key.text, held);
      } else {
        by_integer.emplace_back(integer(key), held);
      }
    }
    if (!made.by_string.fill(std::move(by_string)) || !made.by_integer.fill(std::move(by_integer)))
      fail("keys that differ");
    return made;
  }

  Tensor tensor(std::uint64_t key, std::vector<Dim>* dims) {
    const std::string name = until("[");
    const Type type = type_by_name(name);
    if (type == Type::undefined) fail("an element type");
    expect('[');
    Shape shape;
    while (!take(']')) {
      if (!shape.empty()) expect(',');
      std::string size = until(",]");
      Dim dim;
      const std::size_t equals = size.find('=');
      if (equals != std::string::npos) {
        dim.symbol = size.substr(0, equals) == "?" ? "" : size.substr(0, equals);
        size = size.substr(equals + 1);
      }
      Index count = -1;
      const auto [end, wrong] = std::from_chars(size.data(), size.data() + size.size(), count);
      if (wrong != std::errc() || end != size.data() + size.size() || count < 0) fail("a size");
      if (equals == std::string::npos) dim.size = count;
      shape.push_back(count);
      if (dims) dims->push_back(dim);
    }
    Tensor made(type, shape);
    if (take('~')) {
      const std::string regime = word("abcdefghijklmnopqrstuvwxyz");
      if (!is_regime(regime)) fail("a regime of data");
      fill(made, regime, key);
      return made;
    }
    expect('{');
    const std::vector<Item> items = list('}');
    const bool complex = facts(type).is_complex;
    const Index each = complex ? 2 : 1, wanted = made.size() * each;
    if (items.empty() && wanted > 0) fail("an element");
    for (Index k = 0; k < wanted; ++k)
      put(made, k, items[static_cast<std::size_t>(k) % items.size()]);
    return made;
  }

  void put(Tensor& tensor, Index k, const Item& item) {
    const Type type = tensor.type();
    if (item.is_text != (type == Type::string))
      fail("an element of type " + std::string(name(type)));
    if (type == Type::string) {
      tensor.data<std::string>()[k] = item.text;
    } else if (type == Type::complex64) {
      tensor.data<float>()[k] = static_cast<float>(item.number);
    } else if (type == Type::complex128) {
      tensor.data<double>()[k] = static_cast<double>(item.number);
    } else {
      set_number(tensor, k, item.number);
    }
  }

  std::vector<Item> list(char end) {
    std::vector<Item> items;
    const std::string ends = std::string(",") + end;
    while (!take(end)) {
      if (!items.empty()) expect(',');
      items.push_back(item(ends));
    }
    return items;
  }

  Item item(std::string_view ends) {
    Item made;
    if (peek() == '"') {
      std::size_t end = at_ + 1;
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      const auto text =
          nlohmann::ordered_json::parse(text_.substr(at_, end + 1 - at_), nullptr, false);
      if (!text.is_string()) fail("a text in quotes");
      at_ = end + 1;
      made.text = text.get<std::string>();
      made.is_text = true;
      return made;
    }
    const std::string number = until(ends);
    const auto [end, wrong] =
        std::from_chars(number.data(), number.data() + number.size(), made.number);
    if (wrong != std::errc() || end != number.data() + number.size())
      fail("a number or a text in quotes");
    return made;
  }

  void attribute(Line& made) {
    const std::string name = until("=");
    expect('=');
    const auto& known = made.signature->attributes;
    const auto spec = std::find_if(known.begin(), known.end(),
                                   [&](const AttributeSpec& a) { return a.name == name; });
    made.attributes[name].is = spec == known.end() ? Attribute::Payload(any()) : held(spec->kind);
  }

  Index integer(const Item& item) const {
    constexpr long double end = 0x1p63L;
    if (item.number >= -end && item.number < end) return static_cast<Index>(item.number);
    fail("an integer of 64 bits");
  }

  // Reads a value of an attribute that the operator lacks, or that has the wrong kind.
  Index any() { return integer(item(" ")); }

  Attribute::Payload held(std::string_view kind) {
    if (kind == "tensor") return tensor(key_, nullptr);
    if (kind == "type") return parse_value_type(item(" ").text);
    const bool many = kind.ends_with('s');
    std::vector<Item> items;
    if (many != (peek() == '[')) return many ? Attribute::Payload(any()) : wrong_kind();
    if (many) {
      expect('[');
      items = list(']');
    } else {
      items.push_back(item(" "));
    }
    if (kind == "int") return integer(items[0]);
    if (kind == "float") return static_cast<float>(items[0].number);
    if (kind == "string") return items[0].text;
    if (kind == "ints") return each<Index>(items, [this](const Item& i) { return integer(i); });
    if (kind == "floats")
      return each<float>(items, [](const Item& i) { return static_cast<float>(i.number); });
    if (kind == "strings") return each<std::string>(items, [](const Item& i) { return i.text; });
    fail("an attribute that can be written in a line");
  }

  Attribute::Payload wrong_kind() {
    expect('[');
    return each<Index>(list(']'), [this](const Item& i) { return integer(i); });
  }

  template <class T, class F>
  static std::vector<T> each(const std::vector<Item>& items, F of) {
    std::vector<T> made;
    std::transform(items.begin(), items.end(), std::back_inserter(made), of);
    return made;
  }

  static constexpr int max_depth = 32;  // limit of nested values

  std::uint64_t key_;
  int depth_ = 0;
};

}  // namespace

const Signature* find_version(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return nullptr;
  int since = 0;
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), since);
  const std::size_t dot = name.rfind('.', dash);
  const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
  const std::string_view domain = name.substr(0, start == 0 ? 0 : dot);
  const Signature* found = find_signature(domain, name.substr(start, dash - start), since);
  return found && found->since == since ? found : nullptr;
}

Line parse_line(const std::string& text) { return Reader(text).line(); }

std::uint64_t hash_of_line(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string rule_of_line(const std::string& text) {
  const std::size_t mark = text.rfind(" !");
  return mark == std::string::npos || text.find('"', mark) != std::string::npos
             ? ""
             : text.substr(mark + 2);
}

}  // namespace touchstone::suites
