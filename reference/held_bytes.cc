// Sizes of containers' memory. See reference/held_bytes.h.
#include "reference/held_bytes.h"

#include "core/budget.h"

namespace touchstone {
namespace {

template <class Items>
Index bytes_of_entries(const Items& items) {
  Index bytes = 0;
  for (const auto& [key, value] : items)
    bytes += Index{sizeof(key) + sizeof(value)} + bytes_of_lists(value);
  return bytes;
}

}  // namespace

Index bytes_of_lists(const Value& value) {
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    Index bytes = static_cast<Index>(sequence->items.size() * sizeof(Value));
    if (sequence->inner.kind == ValueType::Kind::tensor) return bytes;
    for (const Value& item : sequence->items) bytes += bytes_of_lists(item);
    return bytes;
  }
  if (const auto* optional = std::get_if<Optional>(&value.is))
    return optional->item ? Index{sizeof(Value)} + bytes_of_lists(*optional->item) : 0;
  if (const auto* map = std::get_if<Map>(&value.is)) {
    Index bytes = bytes_of_entries(map->by_integer) + bytes_of_entries(map->by_string);
    for (const auto& entry : map->by_string) bytes += static_cast<Index>(entry.first.size());
    return bytes;
  }
  return 0;
}

void charge_copy(const Value& value) {
  constexpr Index bytes_a_step = 16;
  const Index bytes = bytes_of_lists(value);
  charge_scratch(bytes);
  charge_work(bytes / bytes_a_step);
}

void charge_texts(const Value& value) {
  if (value.is_tensor()) {
    if (value.tensor().type() == Type::string) value.tensor().charge_texts();
  } else if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    for (const Value& item : sequence->items) charge_texts(item);
  } else if (const auto* optional = std::get_if<Optional>(&value.is)) {
    if (optional->item) charge_texts(*optional->item);
  } else if (const auto* map = std::get_if<Map>(&value.is)) {
    for (const auto& entry : map->by_integer) charge_texts(entry.second);
    for (const auto& entry : map->by_string) charge_texts(entry.second);
  }
}

}  // namespace touchstone
