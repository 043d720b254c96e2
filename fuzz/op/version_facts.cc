// Reads the signature's types. Conversion of elements works on their text.
#include "fuzz/op/version_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/check_node.h"

namespace touchstone::fuzz {
namespace {

constexpr std::size_t many_types = 4;  // a constraint with more types is for data

bool is_of_integers(std::string_view type) { return type.find("int") != std::string_view::npos; }

std::string converted(const std::string& element, Type from, Type to) {
  if (from == Type::string) return "1";
  if (to == Type::string) return fuzz::quoted(element);
  double number = 0;
  std::from_chars(element.data(), element.data() + element.size(), number);
  if (to == Type::boolean) return number != 0 ? "1" : "0";
  if (!facts(to).is_integer) return element;
  if (!std::isfinite(number)) return "0";
  if (!facts(to).is_signed) number = std::abs(number);
  const double most = std::ldexp(1.0, std::min(facts(to).bits, 53) - 1) - 1;
  number = std::clamp(std::trunc(number), facts(to).is_signed ? -most : 0.0, most);
  return std::to_string(static_cast<Index>(number));
}

void retype_tensor(DraftValue& value, Type to) {
  const bool complex = facts(value.type).is_complex || facts(to).is_complex;
  if (value.regime.empty() && value.type != to && value.size() > 0) {
    if (complex || (value.type == Type::string && to != Type::string)) {
      value.elements.clear();
      value.regime = "whole";
    }
    for (std::string& element : value.elements) element = converted(element, value.type, to);
  }
  value.type = to;
}

}  // namespace

const ParameterSpec* port_spec(const Signature& signature, std::size_t k) {
  return parameter_at(signature.inputs, k);
}

const ConstraintSpec* constraint_of(const Signature& signature, std::string_view name) {
  for (const ConstraintSpec& constraint : signature.types)
    if (constraint.name == name) return &constraint;
  return nullptr;
}

std::vector<std::string_view> admitted(const Signature& signature, std::size_t k) {
  const ParameterSpec* port = port_spec(signature, k);
  if (!port) return {};
  const ConstraintSpec* constraint = constraint_of(signature, port->type);
  if (!constraint) return {port->type};
  return {constraint->types.begin(), constraint->types.end()};
}

bool is_data(const Signature& signature, std::size_t k) {
  const std::vector<std::string_view> types = admitted(signature, k);
  return types.size() > many_types || !std::all_of(types.begin(), types.end(), is_of_integers);
}

const AttributeSpec* attribute_spec(const Signature& signature, std::string_view name) {
  for (const AttributeSpec& attribute : signature.attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

std::string default_of(const AttributeSpec& attribute) {
  std::string written(attribute.default_json);
  if (written.starts_with('[') && written.find('"') == std::string::npos) std::erase(written, ' ');
  return written;
}

bool retype(DraftValue& value, const std::string& type) {
  const ValueType to = parse_value_type(type);
  if (to.kind == ValueType::Kind::tensor) {
    if (!value.is_tensor()) return false;
    retype_tensor(value, to.element);
    return true;
  }
  const bool is_container =
      to.kind == ValueType::Kind::sequence || to.kind == ValueType::Kind::optional;
  if (!is_container || value.kind != DraftValue::Kind::container) return false;
  if (parse_value_type(value.container).kind != to.kind) return false;
  DraftValue made = value;
  made.container = type;
  const std::string inner = text(*to.inner);
  for (DraftValue& item : made.items)
    if (!retype(item, inner)) return false;
  value = std::move(made);
  return true;
}

}  // namespace touchstone::fuzz
