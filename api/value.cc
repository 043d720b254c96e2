// Tensors of the C interface: made, wrapped and viewed.
#include "api/value.h"

#include <cstring>

#include "api/status.h"
#include "core/checked.h"
#include "core/limits.h"
#include "core/placement.h"

namespace touchstone::api {
namespace {

Handles<HeldValue>& values() {
  static Handles<HeldValue>& all = *new Handles<HeldValue>("ts_value");
  return all;
}

std::vector<std::int64_t> dims_of(const Value& value) {
  if (!value.is_tensor()) return {};
  const Shape& shape = value.tensor().shape();
  return {shape.begin(), shape.end()};
}

Shape shape_of(const std::int64_t* dims, std::size_t rank) {
  if (rank > 0) require(dims, "dims");
  const auto max = static_cast<std::size_t>(current_limits().rank_run);
  if (rank > max)
    throw Error(ErrorKind::limit, "a tensor has " + std::to_string(rank) +
                                      " dimensions; a run takes " + std::to_string(max));
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0)
      throw Error(ErrorKind::usage, "dimension " + std::to_string(d) + " is " +
                                        std::to_string(dims[d]) + ", below 0");
    shape.push_back(dims[d]);
  }
  return shape;
}

const Tensor& tensor_of(const HeldValue& held) {
  if (!held.value.is_tensor())
    throw Error(ErrorKind::usage, "the value is no tensor, but " + held.type_text);
  return held.value.tensor();
}

}  // namespace

HeldValue::HeldValue(Value given)
    : value(std::move(given)), type(value.type()), type_text(text(type)), dims(dims_of(value)) {}

std::shared_ptr<HeldValue> value_of(const ts_value* handle) { return values().get(handle); }

ts_value* handle_of(Value value) {
  return as_handle<ts_value>(values().add(std::make_shared<HeldValue>(std::move(value))));
}

void release_values(ts_value** given, std::size_t count) noexcept {
  for (std::size_t k = 0; k < count; ++k) values().take(given[k]);
}

Type type_of(ts_type code) {
  const auto type = static_cast<Type>(code);
  if (static_cast<int>(code) <= 0 || static_cast<int>(code) > TS_TYPE_FLOAT6E3M2)
    throw Error(ErrorKind::usage,
                "there is no element type " + std::to_string(static_cast<int>(code)));
  return type;
}

ts_status* tensor_create(ts_type type, const std::int64_t* dims, std::size_t rank,
                         ts_value** value) {
  return guarded([&] {
    require(value, "value");
    *value = handle_of(Tensor(type_of(type), shape_of(dims, rank)));
  });
}

ts_status* tensor_wrap(ts_type type, const std::int64_t* dims, std::size_t rank, void* data,
                       std::size_t bytes, ts_value** value) {
  return guarded([&] {
    require(value, "value");
    const Type element = type_of(type);
    if (element == Type::string)
      throw Error(ErrorKind::usage, "strings have no memory to wrap")
          .with_help("tensor_create_strings copies them");
    Shape shape = shape_of(dims, rank);
    const Index count = check_size(element, shape, current_limits());
    const auto needed = static_cast<std::size_t>(packed_bytes(element, count));
    if (needed > 0) require(data, "data");
    if (bytes != needed)
      throw Error(ErrorKind::usage, "a tensor of this type and shape takes " +
                                        std::to_string(needed) + " bytes, not " +
                                        std::to_string(bytes));
    const auto bits = static_cast<std::size_t>(facts(element).bits);
    const std::size_t aligned =
        std::max<std::size_t>(bits / (facts(element).is_complex ? 16 : 8), 1);
    if (reinterpret_cast<std::uintptr_t>(data) % aligned != 0)
      throw Error(ErrorKind::usage, "the memory is not aligned to " + std::to_string(aligned) +
                                        " bytes, the size of an element");
    *value = handle_of(tensor_at(data, element, std::move(shape)));
  });
}

ts_status* tensor_create_strings(const std::int64_t* dims, std::size_t rank,
                                 const char* const* strings, const std::size_t* lengths,
                                 ts_value** value) {
  return guarded([&] {
    require(value, "value");
    Tensor made(Type::string, shape_of(dims, rank));
    if (made.size() > 0) require(strings, "strings");
    auto* items = made.data<std::string>();
    for (Index k = 0; k < made.size(); ++k) {
      require(strings[k], "strings[..]");
      items[k].assign(strings[k], lengths ? lengths[k] : std::strlen(strings[k]));
    }
    made.charge_texts();
    *value = handle_of(std::move(made));
  });
}

ts_status* tensor_view(const ts_value* value, ts_tensor* view) {
  return guarded([&] {
    require(view, "view");
    const std::shared_ptr<HeldValue> held = value_of(value);
    const Tensor& tensor = tensor_of(*held);
    ts_tensor made{};
    made.type = static_cast<ts_type>(tensor.type());
    made.rank = static_cast<std::int32_t>(held->dims.size());
    made.dims = held->dims.data();
    made.count = static_cast<std::size_t>(tensor.size());
    if (tensor.type() != Type::string) {
      made.bytes = tensor.bytes().size();
      made.data = const_cast<std::byte*>(tensor.bytes().data());
    }
    write_sized(view, made);
  });
}

ts_status* tensor_string(const ts_value* value, std::size_t index, const char** data,
                         std::size_t* length) {
  return guarded([&] {
    require(data, "data"), require(length, "length");
    const std::shared_ptr<HeldValue> held = value_of(value);
    const Tensor& tensor = tensor_of(*held);
    if (tensor.type() != Type::string)
      throw Error(ErrorKind::usage, "the value is " + held->type_text + ", no tensor of strings");
    if (index >= static_cast<std::size_t>(tensor.size()))
      throw Error(ErrorKind::usage, "element " + std::to_string(index) + " of a tensor of " +
                                        std::to_string(tensor.size()));
    const std::string& text = tensor.data<std::string>()[index];
    *data = text.c_str();
    *length = text.size();
  });
}

ts_status* value_kind(const ts_value* value, ts_kind* kind) {
  return guarded([&] {
    require(kind, "kind");
    *kind = static_cast<ts_kind>(value_of(value)->value.is.index());
  });
}

ts_status* value_type(const ts_value* value, const char** type) {
  return guarded([&] {
    require(type, "type");
    *type = value_of(value)->type_text.c_str();
  });
}

void value_release(ts_value* value) { values().take(value); }

}  // namespace touchstone::api
