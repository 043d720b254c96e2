// Values of the C++20 interface (touchstone.hpp): tensors, sequences, optionals, maps; and errors.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "touchstone.h"

namespace ts {

inline const ts_api& api() {
  static const ts_api* const table = ts_get_api(TS_API_VERSION);
  if (!table)
    throw std::runtime_error(
        "this libtouchstone is older than the header that the program was built with");
  return *table;
}

// A failed call: kind, message, and the details as JSON (rule, place, help).
class Error : public std::runtime_error {
 public:
  Error(ts_error kind, const std::string& message, std::string json)
      : std::runtime_error(message), kind(kind), json(std::move(json)) {}
  const ts_error kind;
  const std::string json;
};

// Throws the status as Error, and releases it.
inline void check(ts_status* status) {
  if (!status) return;
  const std::unique_ptr<ts_status, void (*)(ts_status*)> owner(status, api().status_release);
  throw Error(api().status_kind(status), api().status_message(status), api().status_json(status));
}

// Element type of a C++ type.
template <class T>
struct ElementType;
#define TS_ELEMENT(cpp, code)              \
  template <>                              \
  struct ElementType<cpp> {                \
    static constexpr ts_type value = code; \
  }
TS_ELEMENT(float, TS_TYPE_FLOAT);
TS_ELEMENT(double, TS_TYPE_DOUBLE);
TS_ELEMENT(std::int8_t, TS_TYPE_INT8);
TS_ELEMENT(std::int16_t, TS_TYPE_INT16);
TS_ELEMENT(std::int32_t, TS_TYPE_INT32);
TS_ELEMENT(std::int64_t, TS_TYPE_INT64);
TS_ELEMENT(std::uint8_t, TS_TYPE_UINT8);
TS_ELEMENT(std::uint16_t, TS_TYPE_UINT16);
TS_ELEMENT(std::uint32_t, TS_TYPE_UINT32);
TS_ELEMENT(std::uint64_t, TS_TYPE_UINT64);
TS_ELEMENT(bool, TS_TYPE_BOOL);
TS_ELEMENT(std::complex<float>, TS_TYPE_COMPLEX64);
TS_ELEMENT(std::complex<double>, TS_TYPE_COMPLEX128);
#undef TS_ELEMENT

using Dims = std::vector<std::int64_t>;

// A tensor, sequence, optional or map. Copies share it.
class Value {
 public:
  explicit Value(ts_value* handle) : handle_(handle, Release{}) {}
  // A value that belongs to the library, or none, and is valid as long as its handle.
  static Value borrowed(const ts_value* handle) {
    return Value(const_cast<ts_value*>(handle), Release{false});
  }
  // Returns the handle, for who releases it. A borrowed one stays as it is.
  static ts_value* detach(Value value) {
    Release* const release = std::get_deleter<Release>(value.handle_);
    if (value.handle_.use_count() > 1 && release->owned) value = value.alias();
    std::get_deleter<Release>(value.handle_)->owned = false;
    return value.handle();
  }
  // Takes over a DLManagedTensor of the processor: copies its elements and calls its deleter.
  // Throws Error, and leaves it to the caller.
  static Value from_dlpack(void* managed) {
    return made([&](ts_value** to) { return api().value_from_dlpack(managed, to); });
  }
  // Returns a DLManagedTensor on the tensor's memory, which its deleter frees.
  void* to_dlpack() const {
    void* out = nullptr;
    check(api().value_to_dlpack(handle(), &out));
    return out;
  }

  // A tensor of zeros.
  static Value zeros(ts_type type, const Dims& dims) {
    return made(
        [&](ts_value** to) { return api().tensor_create(type, dims.data(), dims.size(), to); });
  }
  // A tensor with a copy of these elements, in row-major order. Throws Error if their number does
  // not fit.
  template <class T>
  static Value copy(const Dims& dims, std::span<const T> elements) {
    Value out = zeros(ElementType<T>::value, dims);
    const ts_tensor view = out.view();
    if (view.count != elements.size())
      throw Error(TS_ERROR_USAGE,
                  "the shape has " + std::to_string(view.count) + " elements, and " +
                      std::to_string(elements.size()) + " are given",
                  "{}");
    std::copy(elements.begin(), elements.end(), static_cast<T*>(view.data));
    return out;
  }
  template <class T>
  static Value copy(const Dims& dims, std::initializer_list<T> elements) {
    return copy<T>(dims, std::span<const T>(elements.begin(), elements.size()));
  }
  // A tensor on memory of the caller, which must outlive it and all runs that use it.
  template <class T>
  static Value wrap(const Dims& dims, std::span<T> memory) {
    return made([&](ts_value** to) {
      return api().tensor_wrap(ElementType<T>::value, dims.data(), dims.size(), memory.data(),
                               memory.size_bytes(), to);
    });
  }
  static Value strings(const Dims& dims, const std::vector<std::string>& items) {
    std::vector<const char*> data;
    std::vector<std::size_t> lengths;
    for (const std::string& item : items)
      data.push_back(item.data()), lengths.push_back(item.size());
    std::size_t count = 1;
    for (const std::int64_t size : dims) count *= static_cast<std::size_t>(size);
    if (count != items.size())
      throw Error(TS_ERROR_USAGE, "the number of strings does not fit the shape", "{}");
    return made([&](ts_value** to) {
      return api().tensor_create_strings(dims.data(), dims.size(), data.data(), lengths.data(), to);
    });
  }
  // `type`: "seq(tensor(float))".
  static Value sequence(const std::string& type, const std::vector<Value>& items) {
    std::vector<const ts_value*> handles;
    for (const Value& item : items) handles.push_back(item.handle());
    return made([&](ts_value** to) {
      return api().sequence_create(type.c_str(), handles.data(), handles.size(), to);
    });
  }
  static Value optional(const std::string& type, const Value* item) {
    return made([&](ts_value** to) {
      return api().optional_create(type.c_str(), item ? item->handle() : nullptr, to);
    });
  }
  static Value map(const std::string& type, const Value& keys, const std::vector<Value>& items) {
    std::vector<const ts_value*> handles;
    for (const Value& item : items) handles.push_back(item.handle());
    return made([&](ts_value** to) {
      return api().map_create(type.c_str(), keys.handle(), handles.data(), handles.size(), to);
    });
  }

  ts_kind kind() const {
    ts_kind out;
    check(api().value_kind(handle(), &out));
    return out;
  }
  std::string type() const {
    const char* out;
    check(api().value_type(handle(), &out));
    return out;
  }
  ts_tensor view() const {
    ts_tensor out{};
    out.struct_size = sizeof out;
    check(api().tensor_view(handle(), &out));
    return out;
  }
  Dims dims() const {
    const ts_tensor tensor = view();
    return Dims(tensor.dims, tensor.dims + tensor.rank);
  }
  // The elements of a tensor. Throws Error if T is not its element type.
  template <class T>
  std::span<const T> span() const {
    const ts_tensor tensor = view();
    if (tensor.type != ElementType<T>::value)
      throw Error(TS_ERROR_USAGE, "the value is " + type(), "{}");
    return {static_cast<const T*>(tensor.data), tensor.count};
  }
  // The same, to be written. Copies of the value share the elements.
  template <class T>
  std::span<T> mutable_span() {
    const std::span<const T> elements = span<T>();
    return {const_cast<T*>(elements.data()), elements.size()};
  }
  std::vector<std::string> strings() const {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < view().count; ++k) {
      const char* data;
      std::size_t length;
      check(api().tensor_string(handle(), k, &data, &length));
      out.emplace_back(data, length);
    }
    return out;
  }
  std::size_t size() const {
    std::size_t out;
    check(api().value_count(handle(), &out));
    return out;
  }
  Value operator[](std::size_t index) const {
    return made([&](ts_value** to) { return api().value_item(handle(), index, to); });
  }
  Value keys() const {
    return made([&](ts_value** to) { return api().map_keys(handle(), to); });
  }

  ts_value* handle() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }  // false: a node leaves it out

 private:
  struct Release {
    bool owned = true;
    void operator()(ts_value* handle) const {
      if (owned) api().value_release(handle);
    }
  };
  Value(ts_value* handle, Release release) : handle_(handle, release) {}
  // Another handle of the same value.
  Value alias() const {
    const bool optional = kind() == TS_KIND_SEQUENCE;
    const Value holder = optional ? Value::optional("optional(" + type() + ")", this)
                                  : sequence("seq(" + type() + ")", {*this});
    return holder[0];
  }
  template <class Make>
  static Value made(Make&& make) {
    ts_value* out = nullptr;
    check(make(&out));
    return Value(out);
  }
  std::shared_ptr<ts_value> handle_;
};

using Values = std::map<std::string, Value>;

}  // namespace ts
