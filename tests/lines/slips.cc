// A slip of values is a function of one element, or of where an element is taken from; containers
// have those of the tensors that they hold.
#include "tests/lines/slips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "model/check_node.h"

namespace touchstone {
namespace {

using Number = long double;

// Of one number of a type.
struct NumberSlip {
  const char* name;
  Number (*of)(Number x, Type type);
};

Number shortened(Number x, int digits) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const Number fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

Number narrowed(Number x, int bits) {
  const auto code = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::fmod(x, 0x1p63L)));
  const unsigned shift = 64U - static_cast<unsigned>(bits);
  return static_cast<Number>(static_cast<std::int64_t>(code << shift) >> shift);
}

const NumberSlip of_floats[] = {
    {"NaN is 0", [](Number x, Type) { return std::isnan(x) ? 0.0L : x; }},
    {"an infinity is a large number",
     [](Number x, Type type) {
       const Number largest = format_of(type).largest;
       return std::isinf(x) ? std::copysign(largest, x) : x;
     }},
    {"-0 is 0", [](Number x, Type) { return x == 0 ? 0.0L : x; }},
    {"a subnormal is 0",
     [](Number x, Type type) {
       const Number smallest = format_of(type).smallest_normal;
       return std::fabs(x) < smallest ? std::copysign(0.0L, x) : x;
     }},
    {"no sign", [](Number x, Type) { return std::fabs(x); }},
    {"no fraction", [](Number x, Type) { return std::trunc(x); }},
    {"none past 1",
     [](Number x, Type) { return std::isnan(x) ? x : std::clamp(x, Number{-1}, Number{1}); }},
    {"fewer digits",
     [](Number x, Type type) { return shortened(x, type == Type::float64 ? 24 : 8); }},
};

const NumberSlip of_integers[] = {
    {"no sign", [](Number x, Type) { return std::fabs(x); }},
    {"0 is 1", [](Number x, Type) { return x == 0 ? 1.0L : x; }},
    {"none past 1", [](Number x, Type) { return std::clamp(x, Number{-1}, Number{1}); }},
    {"in 8 bits", [](Number x, Type type) { return facts(type).bits > 8 ? narrowed(x, 8) : x; }},
    {"in 32 bits", [](Number x, Type type) { return facts(type).bits > 32 ? narrowed(x, 32) : x; }},
    {"as a double", [](Number x, Type) { return static_cast<Number>(static_cast<double>(x)); }},
};

bool is_complex(Type type) { return facts(type).is_complex; }

void copy_element(const Tensor& from, Index at, Tensor& to, Index there) {
  switch (from.type()) {
    case Type::string:
      to.data<std::string>()[there] = from.data<std::string>()[at];
      return;
    case Type::complex64:
    case Type::complex128: {
      const auto size = static_cast<std::size_t>(facts(from.type()).bits) / 8;
      std::memcpy(to.bytes().data() + static_cast<std::size_t>(there) * size,
                  from.bytes().data() + static_cast<std::size_t>(at) * size, size);
      return;
    }
    default:
      set_code(to, there, code_at(from, at));
  }
}

// Each element taken from somewhere.
template <class From>
Tensor moved(const Tensor& from, const From& at) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k) copy_element(from, at(k), made, k);
  return made;
}

Tensor by_number(const Tensor& from, const NumberSlip& slip) {
  Tensor made = moved(from, [](Index k) { return k; });
  for (Index k = 0; k < made.size(); ++k) {
    const Number before = number_at(from, k), after = slip.of(before, from.type());
    const bool same = (std::isnan(before) && std::isnan(after)) ||
                      (before == after && std::signbit(before) == std::signbit(after));
    if (!same) set_number(made, k, after);
  }
  return made;
}

Tensor by_text(const Tensor& from, std::string (*of)(std::string)) {
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < made.size(); ++k)
    made.data<std::string>()[k] = of(from.data<std::string>()[k]);
  return made;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string in_ascii(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return text;
}

std::string trimmed(std::string text) {
  std::erase(text, ' ');
  return text;
}

Tensor without_imaginary_part(const Tensor& from) {
  Tensor made = moved(from, [](Index k) { return k; });
  const auto half = static_cast<std::size_t>(facts(from.type()).bits) / 16;
  for (std::size_t k = 0; k < static_cast<std::size_t>(made.size()); ++k)
    std::memset(made.bytes().data() + (2 * k + 1) * half, 0, half);
  return made;
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  if (a.type() == Type::string)
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.size(),
                      b.data<std::string>());
  return std::ranges::equal(a.bytes(), b.bytes());
}

using TensorSlip = std::pair<std::string, std::function<Tensor(const Tensor&)>>;

std::vector<TensorSlip> tensor_slips(Type type) {
  std::vector<TensorSlip> all = {
      {"all is 0", [](const Tensor& t) { return Tensor(t.type(), t.shape()); }},
      {"all is the first", [](const Tensor& t) { return moved(t, [](Index) { return 0; }); }},
      {"the last is the first",
       [](const Tensor& t) {
         return moved(t, [&](Index k) { return k + 1 == t.size() ? 0 : k; });
       }},
      {"in reverse",
       [](const Tensor& t) { return moved(t, [&](Index k) { return t.size() - 1 - k; }); }},
      {"extents in reverse",
       [](const Tensor& t) {
         Shape shape = t.shape();
         std::reverse(shape.begin(), shape.end());
         return t.reshaped(shape);
       }},
      {"in one row", [](const Tensor& t) { return t.reshaped({t.size()}); }},
      {"no extents of 1",
       [](const Tensor& t) {
         Shape shape;
         for (const Index extent : t.shape())
           if (extent != 1) shape.push_back(extent);
         return t.reshaped(shape);
       }},
  };
  const auto numbers = [&](const auto& slips) {
    for (const NumberSlip& slip : slips)
      all.emplace_back(slip.name, [&slip](const Tensor& t) { return by_number(t, slip); });
  };
  if (type == Type::string) {
    all.emplace_back("no capitals", [](const Tensor& t) { return by_text(t, lower); });
    all.emplace_back("ASCII alone", [](const Tensor& t) { return by_text(t, in_ascii); });
    all.emplace_back("no spaces", [](const Tensor& t) { return by_text(t, trimmed); });
  } else if (is_complex(type)) {
    all.emplace_back("no imaginary part", without_imaginary_part);
  } else if (facts(type).is_integer) {
    numbers(of_integers);
  } else if (type != Type::boolean) {
    numbers(of_floats);
  }
  return all;
}

// The first tensor in a value: what its slips are.
const Tensor* tensor_in(const Value& value) {
  if (value.is_tensor()) return &value.tensor();
  if (const auto* sequence = std::get_if<Sequence>(&value.is))
    return sequence->items.empty() ? nullptr : tensor_in(sequence->items.front());
  const auto* optional = std::get_if<Optional>(&value.is);
  return optional && optional->item ? tensor_in(*optional->item) : nullptr;
}

// In every tensor of a value; whether anything changed.
bool change(Value& value, const TensorSlip& slip) {
  if (value.is_tensor()) {
    Tensor made = slip.second(value.tensor());
    if (equal(made, value.tensor())) return false;
    value = Value(std::move(made));
    return true;
  }
  bool changed = false;
  if (auto* sequence = std::get_if<Sequence>(&value.is)) {
    for (Value& item : sequence->items) changed |= change(item, slip);
  } else if (auto* optional = std::get_if<Optional>(&value.is); optional && optional->item) {
    Value item = *optional->item;
    changed = change(item, slip);
    optional->item = std::make_shared<const Value>(std::move(item));
  }
  return changed;
}

void add_input_slips(const Given& right, std::size_t k, std::vector<Slip>& all) {
  const std::string name = fmt::format("x{}", k);
  const auto& ports = right.node.signature->inputs;
  const ParameterSpec* port = parameter_at(ports, k);
  if (const Tensor* held = tensor_in(right.inputs[k])) {
    for (TensorSlip& slip : tensor_slips(held->type()))
      all.push_back({fmt::format("{}: {}", name, slip.first),
                     [k, slip](const Given& given) -> std::optional<Given> {
                       Given made = given;
                       if (!change(made.inputs[k], slip)) return std::nullopt;
                       return made;
                     }});
  }
  if (std::holds_alternative<Sequence>(right.inputs[k].is))
    for (const bool last : {false, true})
      all.push_back({fmt::format("{}: {}", name, last ? "the last is lost" : "items in reverse"),
                     [k, last](const Given& given) -> std::optional<Given> {
                       Given made = given;
                       auto& items = std::get<Sequence>(made.inputs[k].is).items;
                       if (items.size() < (last ? 1U : 2U)) return std::nullopt;
                       if (last)
                         items.pop_back();
                       else
                         std::reverse(items.begin(), items.end());
                       return made;
                     }});
  if (const auto* optional = std::get_if<Optional>(&right.inputs[k].is); optional && optional->item)
    all.push_back({name + ": empty", [k](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     std::get<Optional>(made.inputs[k].is).item.reset();
                     return made;
                   }});
  if (port && port->optional)
    all.push_back({name + ": not heard", [k](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     made.inputs[k] = Value();
                     made.node.inputs[k].clear();
                     return made;
                   }});
  for (std::size_t j = 0; j < k; ++j)
    if (!right.inputs[j].absent() && right.inputs[j].type() == right.inputs[k].type())
      all.push_back(
          {fmt::format("x{} for x{}", j, k), [j, k](const Given& given) -> std::optional<Given> {
             Given made = given;
             std::swap(made.inputs[j], made.inputs[k]);
             return made;
           }});
}

// -2: "negative"; lists have the kinds of their items.
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
void add_list_slip(const std::string& name, const std::string& title, const Change& change,
                   std::vector<Slip>& all) {
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
void add_list_slips(const std::string& name, const Attribute& attribute, std::vector<Slip>& all) {
  using List = std::vector<T>;
  const List* said = std::get_if<List>(&attribute.is);
  if (!said || said->empty()) return;
  add_list_slip<T>(
      name, name + ": in reverse", [](List& list) { std::reverse(list.begin(), list.end()); }, all);
  add_list_slip<T>(
      name, name + ": all is the first",
      [](List& list) { std::fill(list.begin(), list.end(), List(list).front()); }, all);
  add_list_slip<T>(
      name, name + ": the last is the first", [](List& list) { list.back() = T(list.front()); },
      all);
}

template <class T>
void add_number_slips(const std::string& name, const Attribute& attribute, std::vector<Slip>& all) {
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

void add_tensor_slips(const std::string& name, const Attribute& attribute, std::vector<Slip>& all) {
  const Tensor* held = std::get_if<Tensor>(&attribute.is);
  if (!held) return;
  for (TensorSlip& slip : tensor_slips(held->type()))
    all.push_back({fmt::format("{}: {}", name, slip.first),
                   [name, slip](const Given& given) -> std::optional<Given> {
                     Given made = given;
                     Tensor& tensor = std::get<Tensor>(made.node.attributes.at(name).is);
                     Tensor changed = slip.second(tensor);
                     if (equal(changed, tensor)) return std::nullopt;
                     tensor = std::move(changed);
                     return made;
                   }});
}

void add_attribute_slips(const Given& right, const std::string& name, std::vector<Slip>& all) {
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
  add_number_slips<Index>(name, attribute, all);
  add_number_slips<float>(name, attribute, all);
  add_list_slips<Index>(name, attribute, all);
  add_list_slips<float>(name, attribute, all);
  add_list_slips<std::string>(name, attribute, all);
  add_tensor_slips(name, attribute, all);
}

}  // namespace

std::vector<Slip> slips_of(const Given& right) {
  std::vector<Slip> all;
  for (std::size_t k = 0; k < right.inputs.size(); ++k)
    if (!right.inputs[k].absent()) add_input_slips(right, k, all);
  for (const auto& [name, attribute] : right.node.attributes) add_attribute_slips(right, name, all);
  return all;
}

}  // namespace touchstone
