// Injected faults of values. A container has those of the first tensor that it holds, applied to
// all its tensors, and those of its kind: lost items, another order, an optional that is always
// empty.
#include "tests/lines/value_faults.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "tests/lines/tensor_faults.h"

namespace touchstone {
namespace {

const Tensor* tensor_in(const Value& value) {
  if (value.is_tensor()) return &value.tensor();
  if (const auto* sequence = std::get_if<Sequence>(&value.is))
    return sequence->items.empty() ? nullptr : tensor_in(sequence->items.front());
  if (const auto* map = std::get_if<Map>(&value.is)) {
    if (!map->by_integer.empty()) return tensor_in(map->by_integer.begin()->second);
    return map->by_string.empty() ? nullptr : tensor_in(map->by_string.begin()->second);
  }
  const auto* optional = std::get_if<Optional>(&value.is);
  return optional && optional->item ? tensor_in(*optional->item) : nullptr;
}

bool change(Value& value, const TensorFault& fault) {
  if (value.is_tensor()) {
    Tensor made = fault.of(value.tensor());
    if (equal(made, value.tensor())) return false;
    value = Value(std::move(made));
    return true;
  }
  bool changed = false;
  if (auto* sequence = std::get_if<Sequence>(&value.is)) {
    for (Value& item : sequence->items) changed |= change(item, fault);
  } else if (auto* map = std::get_if<Map>(&value.is)) {
    for (auto& [key, item] : map->by_integer) changed |= change(item, fault);
    for (auto& [key, item] : map->by_string) changed |= change(item, fault);
  } else if (auto* optional = std::get_if<Optional>(&value.is); optional && optional->item) {
    Value item = *optional->item;
    changed = change(item, fault);
    optional->item = std::make_shared<const Value>(std::move(item));
  }
  return changed;
}

using Items = std::vector<Value>;

// A value of this type without elements.
Value blank(const ValueType& type) {
  if (type.kind == ValueType::Kind::sequence) return Sequence{*type.inner, {}};
  return type.kind == ValueType::Kind::tensor ? Value(Tensor(type.element, {0})) : Value();
}

void add_item_faults(std::vector<ValueFault>& all) {
  const auto items = [&](const char* name, std::size_t least, void (*of)(Items & items)) {
    all.push_back({name, [least, of](Value& value) {
                     Items& held = std::get<Sequence>(value.is).items;
                     if (held.size() < least) return false;
                     of(held);
                     return true;
                   }});
  };
  all.push_back({"one item where there is none", [](Value& value) {
                   auto& sequence = std::get<Sequence>(value.is);
                   if (!sequence.items.empty()) return false;
                   sequence.items.push_back(blank(sequence.inner));
                   return true;
                 }});
  items("items in reverse", 2, [](Items& held) { std::reverse(held.begin(), held.end()); });
  items("the last is lost", 1, [](Items& held) { held.pop_back(); });
  items("the first is lost", 1, [](Items& held) { held.erase(held.begin()); });
  items("the last is there twice", 1, [](Items& held) { held.push_back(Value(held.back())); });
  items("all items are the first", 2,
        [](Items& held) { std::fill(held.begin(), held.end(), Value(held.front())); });
  items("the last two are swapped", 2,
        [](Items& held) { std::swap(held.back(), held[held.size() - 2]); });
}

template <class Keyed>
bool first_of_each(Keyed& keyed) {
  if (keyed.size() < 2) return false;
  for (auto& [key, item] : keyed) item = Value(keyed.begin()->second);
  return true;
}

template <class Keyed>
bool without_last(Keyed& keyed) {
  if (keyed.empty()) return false;
  keyed.erase(std::prev(keyed.end()));
  return true;
}

void add_key_faults(std::vector<ValueFault>& all) {
  all.push_back({"the last key is lost", [](Value& value) {
                   auto& map = std::get<Map>(value.is);
                   return without_last(map.by_integer) || without_last(map.by_string);
                 }});
  all.push_back({"all keys have the first's value", [](Value& value) {
                   auto& map = std::get<Map>(value.is);
                   return first_of_each(map.by_integer) || first_of_each(map.by_string);
                 }});
}

// Empties an optional, always or where a careless check would take its item for missing; and fills
// an empty one.
void add_optional_faults(std::vector<ValueFault>& all) {
  const auto emptied = [&](const char* name, bool (*where)(const Value& item)) {
    all.push_back({name, [where](Value& value) {
                     auto& optional = std::get<Optional>(value.is);
                     if (!optional.item || !where(*optional.item)) return false;
                     optional.item.reset();
                     return true;
                   }});
  };
  all.push_back({"full where it is empty", [](Value& value) {
                   auto& optional = std::get<Optional>(value.is);
                   if (optional.item) return false;
                   optional.item = std::make_shared<const Value>(blank(optional.inner));
                   return true;
                 }});
  emptied("empty", [](const Value&) { return true; });
  emptied("empty where its item has no elements", holds_no_element);
  emptied("empty where its item is 0", holds_zeros_alone);
}

bool is_zero(const Tensor& t) {
  if (t.type() != Type::string)
    return std::ranges::all_of(t.bytes(), [](std::byte b) { return b == std::byte{0}; });
  const auto* texts = t.data<std::string>();
  return std::all_of(texts, texts + t.size(), [](const std::string& text) { return text.empty(); });
}

}  // namespace

bool holds_no_element(const Value& value) {
  if (value.is_tensor()) return value.tensor().size() == 0;
  const auto* sequence = std::get_if<Sequence>(&value.is);
  return sequence && sequence->items.empty();
}

bool holds_zeros_alone(const Value& value) {
  if (const auto* sequence = std::get_if<Sequence>(&value.is))
    return !sequence->items.empty() && std::ranges::all_of(sequence->items, holds_zeros_alone);
  return value.is_tensor() && value.tensor().size() > 0 && is_zero(value.tensor());
}

std::vector<ValueFault> value_faults(const Value& value) {
  std::vector<ValueFault> all;
  if (const Tensor* held = tensor_in(value))
    for (TensorFault& fault : tensor_faults(held->type()))
      all.push_back({fault.name, [fault](Value& changed) { return change(changed, fault); }});
  if (std::holds_alternative<Sequence>(value.is)) add_item_faults(all);
  if (std::holds_alternative<Map>(value.is)) add_key_faults(all);
  if (std::holds_alternative<Optional>(value.is)) add_optional_faults(all);
  return all;
}

}  // namespace touchstone
