// Copies between numpy arrays and tensors by Python's buffer protocol.
#include "python/module/arrays.h"

#include <nanobind/ndarray.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/placement.h"
#include "python/module/guard.h"
#include "python/module/text.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;

struct Format {
  char code;  // of a buffer
  Index bytes;
  Type type;
  const char* dtype;
};
constexpr Format formats[] = {
    {'f', 4, Type::float32, "float32"}, {'d', 8, Type::float64, "float64"},
    {'l', 8, Type::int64, "int64"},     {'q', 8, Type::int64, "int64"},
    {'i', 4, Type::int32, "int32"},     {'?', 1, Type::boolean, "bool"},
    {'B', 1, Type::uint8, "uint8"},     {'b', 1, Type::int8, "int8"},
    {'e', 2, Type::float16, "float16"}, {'H', 2, Type::uint16, "uint16"},
    {'h', 2, Type::int16, "int16"},     {'I', 4, Type::uint32, "uint32"},
    {'L', 8, Type::uint64, "uint64"},   {'Q', 8, Type::uint64, "uint64"},
};

using BufferHold = std::unique_ptr<Py_buffer, void (*)(Py_buffer*)>;

Shape buffer_shape(const Py_buffer& buffer) {
  Shape shape;
  for (int d = 0; d < buffer.ndim; ++d) shape.push_back(buffer.shape[d]);
  return shape;
}

bool is_of_objects(const Py_buffer& buffer) {
  return buffer.format != nullptr && std::string_view(buffer.format) == "O";
}

// Copies the strings of an array of objects. Returns nullopt if an object is none, or has no bytes.
std::optional<Tensor> texts_in(const Py_buffer& buffer) {
  const auto* const objects = static_cast<PyObject* const*>(buffer.buf);
  const Index size = buffer.len / buffer.itemsize;
  for (Index k = 0; k < size; ++k) {
    if (objects[k] == nullptr || (!PyUnicode_Check(objects[k]) && !PyBytes_Check(objects[k])))
      return std::nullopt;
  }
  Tensor made(Type::string, buffer_shape(buffer));
  try {
    for (Index k = 0; k < size; ++k) made.data<std::string>()[k] = from_str(objects[k]);
  } catch (const nb::python_error&) {
    return std::nullopt;
  }
  return made;
}

// Returns nullptr for elements in another byte order, of several fields, or without alignment.
const Format* format_of(const Py_buffer& buffer) {
  const std::string_view given = buffer.format == nullptr ? "B" : buffer.format;
  if (given.size() != 1) return nullptr;
  for (const Format& format : formats) {
    if (format.code == given[0] && format.bytes == buffer.itemsize) return &format;
  }
  return nullptr;
}

// Objects of numpy, which live as long as the process.
struct Numpy {
  nb::object array = nb::module_::import_("numpy").attr("ndarray");
  nb::object empty = nb::module_::import_("numpy").attr("empty");
  std::array<nb::object, std::size(formats)> dtypes;
  nb::object objects;  // the dtype of strings

  Numpy() {
    const nb::object dtype = nb::module_::import_("numpy").attr("dtype");
    for (std::size_t k = 0; k < dtypes.size(); ++k) dtypes[k] = dtype(formats[k].dtype);
    objects = dtype("object");
  }
};
const Numpy& numpy() {
  static const Numpy& all = *new Numpy;
  return all;
}

// Copies without the interpreter's lock if that takes longer than giving it back.
void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t few = 1 << 16;
  if (bytes == 0) return;
  if (bytes <= few) {
    std::memcpy(to, from, bytes);
  } else {
    unlocked([&] { std::memcpy(to, from, bytes); });
  }
}

// Numpy treats every byte but 0 as true.
void copy_bools(std::span<std::byte> to, const std::byte* from) {
  std::size_t k = 0;
  for (std::uint64_t eight = 0; k + sizeof eight <= to.size(); k += sizeof eight) {
    std::memcpy(&eight, from + k, sizeof eight);
    if ((eight & ~std::uint64_t{0x0101010101010101}) != 0) break;
    std::memcpy(to.data() + k, &eight, sizeof eight);
  }
  for (; k < to.size(); ++k) to[k] = std::byte{from[k] != std::byte{0}};
}

nb::dlpack::dtype_code code_of(Type type) {
  if (type == Type::boolean) return nb::dlpack::dtype_code::Bool;
  if (facts(type).is_float) return nb::dlpack::dtype_code::Float;
  return facts(type).is_signed ? nb::dlpack::dtype_code::Int : nb::dlpack::dtype_code::UInt;
}

// Returns an array over the tensor's memory, which it holds.
nb::object array_over(const Tensor& tensor, const Format& format) {
  auto held = std::make_unique<Tensor>(tensor);
  std::vector<std::size_t> sizes;
  for (const Index size : tensor.shape()) sizes.push_back(static_cast<std::size_t>(size));
  std::byte* const memory = held->bytes().data();
  const nb::capsule owner(held.get(), [](void* of) noexcept { delete static_cast<Tensor*>(of); });
  (void)held.release();
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(code_of(format.type)),
                               static_cast<std::uint8_t>(8 * format.bytes), 1};
  return nb::cast(nb::ndarray<nb::numpy>(memory, sizes.size(), sizes.data(), owner, nullptr, type));
}

nb::object empty_array(const Shape& shape, const nb::object& dtype) {
  const nb::object sizes = nb::steal(PyTuple_New(shape.size()));
  if (!sizes.is_valid()) throw nb::python_error();
  for (Index d = 0; d < shape.size(); ++d)
    PyTuple_SET_ITEM(sizes.ptr(), d, PyLong_FromLongLong(shape[d]));
  PyObject* const arguments[] = {sizes.ptr(), dtype.ptr()};
  nb::object made = nb::steal(PyObject_Vectorcall(numpy().empty.ptr(), arguments, 2, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace

PlainArrays::~PlainArrays() {
  for (Held& held : held_) PyBuffer_Release(&held.buffer);
}

bool PlainArrays::add(nb::handle value) {
  if (!value.type().is(numpy().array)) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  if (is_of_objects(buffer)) {
    const BufferHold held(&buffer, PyBuffer_Release);
    std::optional<Tensor> texts = texts_in(buffer);
    if (texts) held_.push_back({{}, Type::string, std::move(*texts)});
    return texts.has_value();
  }
  const Format* const format = format_of(buffer);
  if (format == nullptr) {
    PyBuffer_Release(&buffer);
    return false;
  }
  held_.push_back({buffer, format->type, {}});
  return true;
}

Tensor PlainArrays::tensor(std::size_t k) {
  if (held_[k].type == Type::string) return std::move(held_[k].texts);
  const Py_buffer& buffer = held_[k].buffer;
  Shape shape = buffer_shape(buffer);
  // Integers of 32 and 64 bits may be indices, which a kernel checks once: no other thread may
  // change them after that. Numpy's bools may have other bytes.
  constexpr Py_ssize_t few = 1 << 14;
  const Type type = held_[k].type;
  const bool is_index = !facts(type).is_float && facts(type).bits > 16;
  if (!is_index && type != Type::boolean && buffer.len >= few)
    return tensor_at(buffer.buf, held_[k].type, std::move(shape));
  Tensor made(held_[k].type, std::move(shape), Storage::unfilled);
  const std::span<std::byte> bytes = made.bytes();
  const auto* const from = static_cast<const std::byte*>(buffer.buf);
  if (made.type() == Type::boolean) {
    copy_bools(bytes, from);
  } else if (!bytes.empty()) {
    std::memcpy(bytes.data(), from, bytes.size());
  }
  return made;
}

nb::object array_of(const Tensor& tensor, bool is_own) {
  const bool is_text = tensor.type() == Type::string;
  std::size_t k = 0;
  while (k < std::size(formats) && formats[k].type != tensor.type()) ++k;
  if (k == std::size(formats) && !is_text) return {};
  if (is_own && !is_text) return array_over(tensor, formats[k]);
  nb::object made = empty_array(tensor.shape(), is_text ? numpy().objects : numpy().dtypes[k]);
  Py_buffer buffer;
  if (PyObject_GetBuffer(made.ptr(), &buffer, PyBUF_WRITABLE) != 0) throw nb::python_error();
  const BufferHold held(&buffer, PyBuffer_Release);
  if (is_text) {
    auto* const objects = static_cast<PyObject**>(buffer.buf);
    for (Index e = 0; e < tensor.size(); ++e) {
      PyObject* const text = to_str(tensor.data<std::string>()[e]).release().ptr();
      Py_XDECREF(std::exchange(objects[e], text));
    }
  } else {
    copy(static_cast<std::byte*>(buffer.buf), tensor.bytes().data(), tensor.bytes().size());
  }
  return made;
}

}  // namespace touchstone::python
