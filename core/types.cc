// Facts of the element types, from the table generated from spec/types.yaml, and the text form of
// value types.
#include "core/types.h"

#include <array>
#include <optional>
#include <vector>

#include "core/error.h"

namespace touchstone {
namespace {

constexpr std::array facts_of_types = {
#define TOUCHSTONE_TYPE(enumerator, name, code, bits, is_float, is_integer, is_signed, is_complex) \
  TypeFacts{Type::enumerator, name, bits, is_float, is_integer, is_signed, is_complex},
#include "core/type_table.inc"
};

#define TOUCHSTONE_TYPE(enumerator, name, code, ...) \
  static_assert(static_cast<int>(Type::enumerator) == code);
#include "core/type_table.inc"

constexpr bool in_order_of_codes() {
  for (std::size_t k = 0; k < facts_of_types.size(); ++k) {
    if (static_cast<std::size_t>(facts_of_types[k].type) != k + 1) return false;
  }
  return true;
}
static_assert(facts_of_types.size() == 28 && in_order_of_codes());

ValueType container(ValueType::Kind kind, Type element, ValueType inner) {
  return {kind, element, std::make_shared<const ValueType>(std::move(inner))};
}

// If `rest` is `word(...)`, strips the word and the brackets and returns true.
bool opens(std::string_view& rest, std::string_view word) {
  if (rest.size() < word.size() + 2 || !rest.starts_with(word) || rest[word.size()] != '(' ||
      rest.back() != ')') {
    return false;
  }
  rest = rest.substr(word.size() + 1, rest.size() - word.size() - 2);
  return true;
}

// Truncates the quoted text: it may come from a file or a target and be of any length.
[[noreturn]] void refuse(std::string_view text) {
  constexpr std::size_t shown = 80;
  throw Error(ErrorKind::usage, "'" + std::string(text.substr(0, shown)) +
                                    (text.size() > shown ? "..." : "") + "' is no type of a value");
}

constexpr std::size_t max_containers = 32;  // nested in each other

Type element_named(std::string_view name, std::string_view whole) {
  const Type type = type_by_name(name);
  if (type == Type::undefined) refuse(whole);
  return type;
}

}  // namespace

const TypeFacts& facts(Type type) {
  const auto code = static_cast<std::int64_t>(type);
  if (code < 1 || code > static_cast<std::int64_t>(facts_of_types.size())) {
    throw Error(ErrorKind::unsupported,
                "element type " + std::to_string(code) + " is none of the 28 that are known");
  }
  return facts_of_types[static_cast<std::size_t>(code - 1)];
}

Type type_by_name(std::string_view name) {
  for (const TypeFacts& row : facts_of_types) {
    if (row.name == name) return row.type;
  }
  return Type::undefined;
}

bool operator==(const ValueType& a, const ValueType& b) {
  const ValueType *x = &a, *y = &b;
  for (; x && y; x = x->inner.get(), y = y->inner.get()) {
    if (x->kind != y->kind || x->element != y->element) return false;
  }
  return x == y;
}

ValueType tensor_type(Type element) { return {ValueType::Kind::tensor, element, nullptr}; }
ValueType sparse_type(Type element) { return {ValueType::Kind::sparse_tensor, element, nullptr}; }
ValueType sequence_type(ValueType inner) {
  return container(ValueType::Kind::sequence, Type::undefined, std::move(inner));
}
ValueType optional_type(ValueType inner) {
  return container(ValueType::Kind::optional, Type::undefined, std::move(inner));
}
ValueType map_type(Type key, ValueType value) {
  return container(ValueType::Kind::map, key, std::move(value));
}

std::string text(const ValueType& type) {
  const auto element = [&] {
    return type.element == Type::undefined ? std::string("undefined")
                                           : std::string(name(type.element));
  };
  const auto inner = [&] { return type.inner ? text(*type.inner) : std::string("undefined"); };
  switch (type.kind) {
    case ValueType::Kind::tensor:
      return "tensor(" + element() + ")";
    case ValueType::Kind::sparse_tensor:
      return "sparse_tensor(" + element() + ")";
    case ValueType::Kind::sequence:
      return "seq(" + inner() + ")";
    case ValueType::Kind::optional:
      return "optional(" + inner() + ")";
    case ValueType::Kind::map:
      return "map(" + element() + "," + inner() + ")";
  }
  BUG("a kind of value without a text");
}

ValueType parse_value_type(std::string_view whole) {
  struct Container {
    ValueType::Kind kind;
    Type key;
  };
  std::vector<Container> around;
  std::string_view rest = whole;
  std::optional<ValueType> type;
  while (!type) {
    if (around.size() > max_containers) {
      throw Error(ErrorKind::limit, "a value's type is nested more than " +
                                        std::to_string(max_containers) + " containers");
    }
    if (opens(rest, "tensor")) {
      type = tensor_type(element_named(rest, whole));
    } else if (opens(rest, "sparse_tensor")) {
      type = sparse_type(element_named(rest, whole));
    } else if (opens(rest, "seq")) {
      around.push_back({ValueType::Kind::sequence, Type::undefined});
    } else if (opens(rest, "optional")) {
      around.push_back({ValueType::Kind::optional, Type::undefined});
    } else if (opens(rest, "map")) {
      const std::size_t comma = rest.find(',');
      if (comma == std::string_view::npos) refuse(whole);
      around.push_back({ValueType::Kind::map, element_named(rest.substr(0, comma), whole)});
      rest.remove_prefix(comma + 1);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
    } else {
      refuse(whole);
    }
  }
  for (auto next = around.rbegin(); next != around.rend(); ++next)
    type = container(next->kind, next->key, *std::move(type));
  return *std::move(type);
}

}  // namespace touchstone
