// Binding of values. Bytes are copied, so that neither side sees the other's writes. Types under 8
// bits are exchanged as one byte per element.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "core/error.h"
#include "core/tensor.h"
#include "model/rules.h"
#include "python/module/guard.h"
#include "python/module/module.h"
#include "python/module/text.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Room = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Shape shape_of(const std::vector<Index>& sizes) {
  return Shape(sizes.data(), sizes.data() + sizes.size());
}

Tensor empty_tensor(int code, const std::vector<Index>& sizes) {
  const Type type = facts(static_cast<Type>(code)).type;
  return {type, shape_of(sizes)};
}

Index bytes_in_python(const Tensor& tensor) {
  return is_packed(tensor.type()) ? tensor.size() : static_cast<Index>(tensor.bytes().size());
}

void require_room(const Tensor& tensor, std::size_t bytes) {
  if (tensor.type() == Type::string) BUG("a tensor of strings has no bytes");
  if (static_cast<Index>(bytes) != bytes_in_python(tensor)) BUG("an array of another size");
}

Value tensor_from(int code, const std::vector<Index>& sizes, const Bytes& given) {
  const std::span<const std::uint8_t> bytes(given.data(), given.size());
  return unlocked([&]() -> Value {
    Tensor tensor = empty_tensor(code, sizes);
    require_room(tensor, bytes.size());
    if (tensor.type() == Type::boolean) {  // numpy treats every byte but 0 as true
      for (std::size_t k = 0; k < bytes.size(); ++k) tensor.data<std::uint8_t>()[k] = bytes[k] != 0;
    } else {
      pack(bytes, tensor);
    }
    return tensor;
  });
}

Value strings_from(const std::vector<Index>& sizes, const nb::list& texts) {
  Tensor tensor = unlocked([&] { return empty_tensor(static_cast<int>(Type::string), sizes); });
  if (static_cast<Index>(texts.size()) != tensor.size()) BUG("a list of another size");
  for (std::size_t k = 0; k < texts.size(); ++k) tensor.data<std::string>()[k] = from_str(texts[k]);
  return tensor;
}

const ValueType& inner_of(const ValueType& type) {
  if (!type.inner) throw Error(ErrorKind::usage, text(type) + " does not say what it holds");
  return *type.inner;
}

const Value& held_to(const Value& value, const ValueType& type, const char* what) {
  if (!(value.type() == type)) {
    throw breach("feed/type", std::string(what) + " is " + text(value.type()) +
                                  ", but is declared as " + text(type));
  }
  return value;
}

Value sequence_from(const ValueType& type, const std::vector<Value>& items) {
  Sequence made{inner_of(type), {}};
  for (std::size_t k = 0; k < items.size(); ++k) {
    made.items.push_back(held_to(items[k], made.inner, ("item " + std::to_string(k)).c_str()));
  }
  return made;
}

Value optional_from(const ValueType& type, const Value* item) {
  Optional made{inner_of(type), nullptr};
  if (item)
    made.item =
        std::make_shared<const Value>(held_to(*item, made.inner, "what the optional holds"));
  return made;
}

Value map_from(const ValueType& type, const nb::list& keys, const std::vector<Value>& values) {
  Map made{type.element, inner_of(type), {}, {}};
  if (keys.size() != values.size()) BUG("a map of as many keys as values is wanted");
  const auto fill = [&](auto& entries, const auto& key_of) {
    typename std::remove_reference_t<decltype(entries)>::Entries all;
    for (std::size_t k = 0; k < values.size(); ++k)
      all.emplace_back(key_of(keys[k]), held_to(values[k], made.value, "a value of the map"));
    if (!entries.fill(std::move(all))) BUG("a dict has a key twice");
  };
  if (made.key == Type::string) {
    fill(made.by_string, [](nb::handle key) { return from_str(key); });
  } else {
    fill(made.by_integer, [](nb::handle key) { return nb::cast<Index>(key); });
  }
  return made;
}

nb::list texts_of(const Tensor& tensor) {
  nb::list out;
  for (Index k = 0; k < tensor.size(); ++k) out.append(to_str(tensor.data<std::string>()[k]));
  return out;
}

template <class T>
const T& held(const Value& value) {
  const T* found = std::get_if<T>(&value.is);
  if (!found) BUG("a value is taken for another kind");
  return *found;
}

nb::list entries_of(const Map& map) {
  nb::list out;
  for (const auto& [key, value] : map.by_integer) out.append(nb::make_tuple(key, value));
  for (const auto& [key, value] : map.by_string) out.append(nb::make_tuple(to_str(key), value));
  return out;
}

// A number or a string of a map as Python's own, or no object.
nb::object plain_scalar(const Value& value) {
  const Tensor* const held = std::get_if<Tensor>(&value.is);
  if (!held || !held->shape().empty()) return {};
  switch (held->type()) {
    case Type::float32:
      return nb::float_(static_cast<double>(*held->data<float>()));
    case Type::float64:
      return nb::float_(*held->data<double>());
    case Type::int64:
      return nb::int_(*held->data<std::int64_t>());
    case Type::string:
      return to_str(*held->data<std::string>());
    default:
      return {};
  }
}
nb::object key_object(Index key) { return nb::int_(key); }
nb::object key_object(const std::string& key) { return to_str(key); }

// Converts maps of such values to dicts. Consecutive maps of the same keys share the keys' objects.
class PlainDicts {
 public:
  nb::object dict(const Map& map) {  // no object, for a map of other values
    return map.key == Type::string ? dict(map.by_string, texts_) : dict(map.by_integer, numbers_);
  }

 private:
  template <class Key>
  using KeyObjects = std::vector<std::pair<Key, nb::object>>;

  template <class Key>
  static nb::object dict(const SortedMap<Key, Value>& entries, KeyObjects<Key>& objects) {
    nb::dict out;
    std::size_t k = 0;
    for (const auto& [key, held] : entries) {
      const nb::object made = plain_scalar(held);
      if (!made.is_valid()) return {};
      if (k == objects.size()) objects.emplace_back(key, key_object(key));
      if (objects[k].first != key) objects[k] = {key, key_object(key)};
      if (PyDict_SetItem(out.ptr(), objects[k].second.ptr(), made.ptr()) != 0)
        nb::raise_python_error();
      ++k;
    }
    return out;
  }

  KeyObjects<Index> numbers_;  // those of the map before
  KeyObjects<std::string> texts_;
};

const char* kind_of(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::tensor:
      return "tensor";
    case ValueType::Kind::sparse_tensor:
      return "sparse_tensor";
    case ValueType::Kind::sequence:
      return "sequence";
    case ValueType::Kind::optional:
      return "optional";
    case ValueType::Kind::map:
      return "map";
  }
  BUG("a kind of value without a name");
}

void copy_out(const Tensor& tensor, const Room& room) {
  const std::span<std::uint8_t> bytes(room.data(), room.size());
  unlocked([&] {
    require_room(tensor, bytes.size());
    if (is_packed(tensor.type())) {
      std::ranges::copy(unpack(tensor), bytes.begin());
    } else if (!bytes.empty()) {
      std::memcpy(bytes.data(), tensor.bytes().data(), bytes.size());
    }
  });
}

}  // namespace

nb::object plain_maps(const Value& value) {
  PlainDicts dicts;
  if (const auto* const map = std::get_if<Map>(&value.is)) return dicts.dict(*map);
  const auto* const sequence = std::get_if<Sequence>(&value.is);
  if (!sequence || sequence->inner.kind != ValueType::Kind::map) return {};
  nb::list out;
  for (const Value& item : sequence->items) {
    nb::object made = dicts.dict(std::get<Map>(item.is));
    if (!made.is_valid()) return {};
    out.append(std::move(made));
  }
  return out;
}

void bind_values(nb::module_& module) {
  module.def(
      "element_types",
      [] {
        nb::list out;
        for (int code = 1; code <= static_cast<int>(Type::float6e3m2); ++code) {
          const TypeFacts& row = facts(static_cast<Type>(code));
          out.append(nb::make_tuple(code, std::string(row.name), row.bits,
                                    row.is_signed && row.is_integer));
        }
        return out;
      },
      "(code, name, bits, signed integer) of each type of elements.");

  nb::class_<ValueType>(module, "ValueType")
      .def_prop_ro("kind", kind_of)
      .def_prop_ro("element", [](const ValueType& type) { return static_cast<int>(type.element); })
      .def_prop_ro("inner", inner_of, nb::rv_policy::copy)
      .def_static("parse", [](const std::string& type) { return parse_value_type(type); })
      .def("__str__", [](const ValueType& type) { return text(type); });

  nb::class_<Value>(module, "Value")
      .def_static("tensor", tensor_from, nb::arg("code"), nb::arg("shape"),
                  nb::arg("bytes").noconvert())
      .def_static("strings", strings_from, nb::arg("shape"), nb::arg("texts"))
      .def_static("sequence", sequence_from, nb::arg("type"), nb::arg("items"))
      .def_static("optional", optional_from, nb::arg("type"), nb::arg("item").none())
      .def_static("map", map_from, nb::arg("type"), nb::arg("keys"), nb::arg("values"))
      .def_prop_ro("type", &Value::type)
      .def_prop_ro("shape",
                   [](const Value& value) {
                     const Shape& shape = value.tensor().shape();
                     return std::vector<Index>(shape.begin(), shape.end());
                   })
      .def(
          "copy_into", [](const Value& value, const Room& room) { copy_out(value.tensor(), room); },
          nb::arg("room").noconvert())
      .def("texts", [](const Value& value) { return texts_of(value.tensor()); })
      .def("items", [](const Value& value) { return held<Sequence>(value).items; })
      .def("item",
           [](const Value& value) -> nb::object {
             const Optional& optional = held<Optional>(value);
             return optional.item ? nb::cast(*optional.item) : nb::none();
           })
      .def("entries", [](const Value& value) { return entries_of(held<Map>(value)); })
      .def("plain_maps", [](const Value& value) {
        nb::object made = plain_maps(value);
        return made.is_valid() ? made : nb::none();
      });
}

}  // namespace touchstone::python
