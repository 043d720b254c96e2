// Sequences, optionals and maps of the C interface.
#include "api/status.h"
#include "api/value.h"

namespace touchstone::api {
namespace {

ValueType container_type(const char* text, ValueType::Kind kind) {
  require(text, "type");
  const ValueType type = parse_value_type(text);
  if (type.kind != kind)
    throw Error(ErrorKind::usage, std::string("the type ") + text + " is of another kind of value");
  return type;
}

// Returns the values of handles, each of this type.
std::vector<Value> items_of(const ts_value* const* items, std::size_t count,
                            const ValueType& type) {
  if (count > 0) require(items, "items");
  std::vector<Value> out;
  for (std::size_t k = 0; k < count; ++k) {
    const std::shared_ptr<HeldValue> held = value_of(items[k]);
    if (!(held->type == type))
      throw Error(ErrorKind::usage, "item " + std::to_string(k) + " is " + held->type_text +
                                        ", and must be " + text(type));
    out.push_back(held->value);
  }
  return out;
}

std::size_t count_of(const Value& value) {
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) return sequence->items.size();
  if (const auto* optional = std::get_if<Optional>(&value.is)) return optional->item ? 1 : 0;
  if (const auto* map = std::get_if<Map>(&value.is))
    return map->key == Type::string ? map->by_string.size() : map->by_integer.size();
  if (std::holds_alternative<SparseTensor>(value.is)) return 2;
  throw Error(ErrorKind::usage, "a value of type " + text(value.type()) + " has no items");
}

Value item_of(const Value& value, std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  if (const auto* sequence = std::get_if<Sequence>(&value.is)) return sequence->items[index];
  if (const auto* optional = std::get_if<Optional>(&value.is)) return *optional->item;
  if (const auto* sparse = std::get_if<SparseTensor>(&value.is))
    return index == 0 ? sparse->values : sparse->indices;
  const Map& map = std::get<Map>(value.is);
  if (map.key == Type::string) return std::next(map.by_string.begin(), at)->second;
  return std::next(map.by_integer.begin(), at)->second;
}

// Gives entries the keys of type T, each with its item.
template <class T, class Key>
void put_keys(const Tensor& keys, std::vector<Value>& items, SortedMap<Key, Value>& entries) {
  typename SortedMap<Key, Value>::Entries all;
  for (Index k = 0; k < keys.size(); ++k) {
    Value& item = items[static_cast<std::size_t>(k)];
    all.emplace_back(static_cast<Key>(keys.data<T>()[k]), std::move(item));
  }
  if (!entries.fill(std::move(all))) throw Error(ErrorKind::usage, "a key occurs twice");
}

void put_all(const Tensor& keys, std::vector<Value>& items, Map& map) {
  switch (map.key) {
    case Type::string:
      return put_keys<std::string>(keys, items, map.by_string);
    case Type::int8:
      return put_keys<std::int8_t>(keys, items, map.by_integer);
    case Type::int16:
      return put_keys<std::int16_t>(keys, items, map.by_integer);
    case Type::int32:
      return put_keys<std::int32_t>(keys, items, map.by_integer);
    case Type::int64:
      return put_keys<std::int64_t>(keys, items, map.by_integer);
    case Type::uint8:
      return put_keys<std::uint8_t>(keys, items, map.by_integer);
    case Type::uint16:
      return put_keys<std::uint16_t>(keys, items, map.by_integer);
    case Type::uint32:
      return put_keys<std::uint32_t>(keys, items, map.by_integer);
    case Type::uint64:
      return put_keys<std::uint64_t>(keys, items, map.by_integer);
    default:
      throw Error(ErrorKind::usage, "a map has keys of integers or strings");
  }
}

template <class T>
void take_keys(const Map& map, Tensor& keys) {
  T* to = keys.data<T>();
  for (const auto& [key, item] : map.by_integer) *to++ = static_cast<T>(key);
}

void take_all(const Map& map, Tensor& keys) {
  switch (map.key) {
    case Type::string: {
      auto* to = keys.data<std::string>();
      for (const auto& [key, item] : map.by_string) *to++ = key;
      return;
    }
    case Type::int8:
      return take_keys<std::int8_t>(map, keys);
    case Type::int16:
      return take_keys<std::int16_t>(map, keys);
    case Type::int32:
      return take_keys<std::int32_t>(map, keys);
    case Type::int64:
      return take_keys<std::int64_t>(map, keys);
    case Type::uint8:
      return take_keys<std::uint8_t>(map, keys);
    case Type::uint16:
      return take_keys<std::uint16_t>(map, keys);
    case Type::uint32:
      return take_keys<std::uint32_t>(map, keys);
    case Type::uint64:
      return take_keys<std::uint64_t>(map, keys);
    default:
      BUG("a map has keys of another type");
  }
}

}  // namespace

ts_status* sequence_create(const char* type, const ts_value* const* items, std::size_t count,
                           ts_value** value) {
  return guarded([&] {
    require(value, "value");
    const ValueType made = container_type(type, ValueType::Kind::sequence);
    *value = handle_of(Sequence{*made.inner, items_of(items, count, *made.inner)});
  });
}

ts_status* optional_create(const char* type, const ts_value* item, ts_value** value) {
  return guarded([&] {
    require(value, "value");
    const ValueType made = container_type(type, ValueType::Kind::optional);
    Optional optional{*made.inner, nullptr};
    if (item)
      optional.item = std::make_shared<const Value>(items_of(&item, 1, *made.inner).front());
    *value = handle_of(std::move(optional));
  });
}

ts_status* map_create(const char* type, const ts_value* keys, const ts_value* const* items,
                      std::size_t count, ts_value** value) {
  return guarded([&] {
    require(value, "value");
    const ValueType made = container_type(type, ValueType::Kind::map);
    const std::shared_ptr<HeldValue> given = value_of(keys);
    if (!(given->type == tensor_type(made.element)) || given->dims.size() != 1 ||
        static_cast<std::size_t>(given->dims[0]) != count)
      throw Error(ErrorKind::usage, "the keys must be a tensor of type " +
                                        std::string(name(made.element)) + " with " +
                                        std::to_string(count) + " elements in one dimension");
    std::vector<Value> all = items_of(items, count, *made.inner);
    Map map;
    map.key = made.element;
    map.value = *made.inner;
    put_all(given->value.tensor(), all, map);
    *value = handle_of(std::move(map));
  });
}

ts_status* value_count(const ts_value* value, std::size_t* count) {
  return guarded([&] {
    require(count, "count");
    *count = count_of(value_of(value)->value);
  });
}

ts_status* value_item(const ts_value* value, std::size_t index, ts_value** item) {
  return guarded([&] {
    require(item, "item");
    const std::shared_ptr<HeldValue> held = value_of(value);
    if (const std::size_t count = count_of(held->value); index >= count)
      throw Error(ErrorKind::usage,
                  "item " + std::to_string(index) + " of " + std::to_string(count));
    *item = handle_of(item_of(held->value, index));
  });
}

ts_status* map_keys(const ts_value* map, ts_value** keys) {
  return guarded([&] {
    require(keys, "keys");
    const std::shared_ptr<HeldValue> held = value_of(map);
    const Map* found = std::get_if<Map>(&held->value.is);
    if (!found)
      throw Error(ErrorKind::usage, "a value of type " + held->type_text + " has no keys");
    Tensor made(found->key, Shape{static_cast<Index>(count_of(held->value))});
    take_all(*found, made);
    *keys = handle_of(std::move(made));
  });
}

}  // namespace touchstone::api
