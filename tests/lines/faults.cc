// Injected faults in a node's inputs, attributes and outputs, one by one.
#include "tests/lines/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "model/check_node.h"
#include "tests/lines/tensor_faults.h"
#include "tests/lines/value_faults.h"

namespace touchstone {
namespace {

void add_value_faults(const Given& right, std::size_t k, std::vector<Fault>& all) {
  for (ValueFault& fault : value_faults(right.inputs[k]))
    all.push_back({fmt::format("x{}: {}", k, fault.name),
                   [k, fault](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     if (!fault.change(made.inputs[k])) return std::nullopt;
                     return made;
                   }});
}

// Treats an optional input as absent, always or where a careless check would.
void add_absence_faults(std::size_t k, std::vector<Fault>& all) {
  const auto absent = [&](const char* name, bool (*where)(const Value&)) {
    all.push_back(
        {fmt::format("x{}: {}", k, name), [k, where](const Given& given) -> std::optional<Given> {
           if (!where(given.inputs[k])) return std::nullopt;
           Given made = given;
           made.inputs[k] = Value();
           made.node.inputs[k].clear();
           return made;
         }});
  };
  absent("not heard", [](const Value&) { return true; });
  absent("not heard where it is empty", holds_no_element);
  absent("not heard where it is 0", holds_zeros_alone);
}

void add_input_faults(const Given& right, std::size_t k, std::vector<Fault>& all) {
  add_value_faults(right, k, all);
  const ParameterSpec* port = parameter_at(right.node.signature->inputs, k);
  if (port && port->optional) add_absence_faults(k, all);
  for (std::size_t j = 0; j < k; ++j)
    if (!right.inputs[j].absent() && right.inputs[j].type() == right.inputs[k].type())
      all.push_back(
          {fmt::format("x{} for x{}", j, k), [j, k](const Given& given) -> std::optional<Given> {
             Given made = given;
             std::swap(made.inputs[j], made.inputs[k]);
             return made;
           }});
}

// The kind of a number, such as "negative" for -2.
std::string kind_of_number(double x) {
  if (x < 0) return "negative";
  return x == 0 ? "0" : x == 1 ? "1" : "more";
}

std::string kind_of(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute.is)) return *text;
  if (const auto* whole = std::get_if<Index>(&attribute.is))
    return kind_of_number(static_cast<double>(*whole));
  if (const auto* real = std::get_if<float>(&attribute.is))
    return kind_of_number(static_cast<double>(*real));
  return "said";
}

template <class T, class Change>
void add_list_fault(const std::string& name, const std::string& title, const Change& change,
                    std::vector<Fault>& all) {
  all.push_back({title, [name, change](const Given& given) -> std::optional<Given> {
                   Given made = given;
                   auto& list = std::get<std::vector<T>>(made.node.attributes.at(name).is);
                   const std::vector<T> before = list;
                   change(list);
                   if (list == before) return std::nullopt;
                   return made;
                 }});
}

template <class T>
void add_list_faults(const std::string& name, const Attribute& attribute, std::vector<Fault>& all) {
  using List = std::vector<T>;
  const List* said = std::get_if<List>(&attribute.is);
  if (!said || said->empty()) return;
  add_list_fault<T>(
      name, name + ": in reverse", [](List& list) { std::reverse(list.begin(), list.end()); }, all);
  add_list_fault<T>(
      name, name + ": all is the first",
      [](List& list) { std::fill(list.begin(), list.end(), List(list).front()); }, all);
  add_list_fault<T>(
      name, name + ": the last is the first", [](List& list) { list.back() = T(list.front()); },
      all);
}

template <class T>
void add_number_faults(const std::string& name, const Attribute& attribute,
                       std::vector<Fault>& all) {
  const T* said = std::get_if<T>(&attribute.is);
  if (!said) return;
  for (const T other : std::set<T>{T{0}, T{1}, static_cast<T>(-*said)})
    if (other != *said)
      all.push_back({fmt::format("{}={}: is {}", name, kind_of(attribute),
                                 other == -*said ? "its negative" : fmt::format("{}", other)),
                     [name, other](const Given& given) -> std::optional<Given> {
                       Given made = given;
                       made.node.attributes.at(name).is = other;
                       return made;
                     }});
}

void add_tensor_faults(const std::string& name, const Attribute& attribute,
                       std::vector<Fault>& all) {
  const Tensor* held = std::get_if<Tensor>(&attribute.is);
  if (!held) return;
  for (TensorFault& fault : tensor_faults(held->type()))
    all.push_back({fmt::format("{}: {}", name, fault.name),
                   [name, fault](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     Tensor& tensor = std::get<Tensor>(made.node.attributes.at(name).is);
                     Tensor changed = fault.of(tensor);
                     if (equal(changed, tensor)) return std::nullopt;
                     tensor = std::move(changed);
                     return made;
                   }});
}

void add_attribute_faults(const Given& right, const std::string& name, std::vector<Fault>& all) {
  const Attribute& attribute = right.node.attributes.at(name);
  const auto& known = right.node.signature->attributes;
  const auto spec = std::ranges::find(known, name, &AttributeSpec::name);
  if (spec != known.end() && !spec->required)
    all.push_back({fmt::format("{}={}: not heard", name, kind_of(attribute)),
                   [name](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     made.node.attributes.erase(name);
                     return made;
                   }});
  add_number_faults<Index>(name, attribute, all);
  add_number_faults<float>(name, attribute, all);
  add_list_faults<Index>(name, attribute, all);
  add_list_faults<float>(name, attribute, all);
  add_list_faults<std::string>(name, attribute, all);
  add_tensor_faults(name, attribute, all);
}

// An omitted attribute gets a wrong default.
template <class T>
void add_default_faults(const AttributeSpec& spec, std::vector<Fault>& all) {
  T said{};
  const std::string_view text = spec.default_json;
  if (std::from_chars(text.data(), text.data() + text.size(), said).ec != std::errc{}) return;
  const std::string name(spec.name);
  for (const T other : std::set<T>{T{0}, T{1}, static_cast<T>(-said), static_cast<T>(said + 1)})
    if (other != said)
      all.push_back({fmt::format("{}: {} by default", name, other),
                     [name, other](const Given& given) -> std::optional<Given> {
                       Given made = given;
                       made.node.attributes[name].is = other;
                       return made;
                     }});
}

}  // namespace

std::vector<Fault> faults_of(const Given& right) {
  std::vector<Fault> all;
  for (std::size_t k = 0; k < right.inputs.size(); ++k)
    if (!right.inputs[k].absent()) add_input_faults(right, k, all);
  for (const auto& [name, attribute] : right.node.attributes)
    add_attribute_faults(right, name, all);
  for (const AttributeSpec& spec : right.node.signature->attributes) {
    if (right.node.attributes.contains(std::string(spec.name)) || spec.default_json.empty())
      continue;
    if (spec.kind == "int") add_default_faults<Index>(spec, all);
    if (spec.kind == "float") add_default_faults<float>(spec, all);
  }
  return all;
}

std::vector<AnswerFault> answer_faults_of(const std::vector<Value>& right) {
  std::vector<AnswerFault> all;
  for (std::size_t k = 0; k < right.size(); ++k) {
    for (ValueFault& fault : value_faults(right[k]))
      all.push_back({fmt::format("y{}: {}", k, fault.name),
                     [k, fault](std::vector<Value>& given) { return fault.change(given[k]); }});
    for (std::size_t j = 0; j < k; ++j)
      if (!right[k].absent() && !right[j].absent() && right[j].type() == right[k].type())
        all.push_back({fmt::format("y{} for y{}", j, k), [j, k](std::vector<Value>& given) {
                         std::swap(given[j], given[k]);
                         return true;
                       }});
  }
  return all;
}

}  // namespace touchstone
