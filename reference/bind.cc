// Binding of kernel parameters: conversion of inputs, allocation of outputs, casts. See
// reference/bind.h.
#include "reference/bind.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/placement.h"
#include "model/rules.h"
#include "reference/shape_only.h"

namespace touchstone {

namespace {

// Truncates a number. NaN and values beyond 64 bits become the lowest index, which is never valid.
std::int64_t cut_off(long double number) {
  return number > -0x1p63L && number < 0x1p63L ? static_cast<std::int64_t>(number)
                                               : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

View<const std::int64_t> Bind::indices(Index k) {
  if (k >= static_cast<Index>(call_.inputs.size()) ||
      !call_.inputs[static_cast<std::size_t>(k)].is_tensor())
    return {};
  const Tensor& tensor = call_.inputs[static_cast<std::size_t>(k)].tensor();
  if (tensor.type() == Type::int64)
    return {tensor.data<std::int64_t>(), tensor.shape(), Type::int64};
  std::int64_t* held = scratch<std::int64_t>(tensor.size());
  for (const Index i : Steps(0, tensor.size())) held[i] = cut_off(number_at(tensor, i));
  return {held, tensor.shape(), Type::int64};
}

View<const double> Bind::reals(Index k) {
  if (k >= static_cast<Index>(call_.inputs.size()) ||
      !call_.inputs[static_cast<std::size_t>(k)].is_tensor())
    return {};
  const Tensor& tensor = call_.inputs[static_cast<std::size_t>(k)].tensor();
  double* held = scratch<double>(tensor.size());
  if (tensor.type() == Type::float32)
    std::copy_n(tensor.data<float>(), tensor.size(), held);
  else
    for (const Index i : Steps(0, tensor.size()))
      held[i] = static_cast<double>(number_at(tensor, i));
  return {held, tensor.shape(), tensor.type()};
}

std::uint8_t* Bind::unpacked(const Tensor& tensor) {
  const std::vector<std::uint8_t> codes = unpack(tensor);
  std::uint8_t* held = scratch<std::uint8_t>(tensor.size());
  std::copy(codes.begin(), codes.end(), held);
  return held;
}

namespace {

template <class T>
void widen_each(const Tensor& tensor, T* out) {
  if (tensor.type() == Type::float16) {
    for (const Index k : Steps(0, tensor.size()))
      out[k] = static_cast<T>(to_float(tensor.data<Float16>()[k]));
  } else if (tensor.type() == Type::bfloat16) {
    for (const Index k : Steps(0, tensor.size()))
      out[k] = static_cast<T>(to_float(tensor.data<BFloat16>()[k]));
  } else {
    for (const Index k : Steps(0, tensor.size())) out[k] = static_cast<T>(number_at(tensor, k));
  }
}

// Converts to a 16-bit float. A NaN that can have come from the narrow type keeps all its bits,
// since the kernel may have only copied it.
template <class T>
T narrowed(float value, int dropped, T (*convert)(float)) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isnan(value) || (bits & ((1U << dropped) - 1)) != 0) return convert(value);
  const std::uint32_t ones = 0x7FFFU & ~((0x7FFFFFU >> dropped));  // the exponent's bits
  return {
      static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | ones | (bits & 0x7FFFFFU) >> dropped)};
}

template <class T>
void narrow_each(const T* in, Tensor& tensor) {
  if constexpr (std::is_same_v<T, float>) {
    if (tensor.type() == Type::float16) {
      for (const Index k : Steps(0, tensor.size()))
        tensor.data<Float16>()[k] = narrowed<Float16>(in[k], 13, to_float16);
      return;
    }
    if (tensor.type() == Type::bfloat16) {
      for (const Index k : Steps(0, tensor.size()))
        tensor.data<BFloat16>()[k] = narrowed<BFloat16>(in[k], 16, to_bfloat16);
      return;
    }
  }
  for (const Index k : Steps(0, tensor.size()))
    set_number(tensor, k, static_cast<long double>(in[k]));
}

}  // namespace

void Bind::widen(const Tensor& tensor, float* out) { widen_each(tensor, out); }
void Bind::widen(const Tensor& tensor, double* out) { widen_each(tensor, out); }
void Bind::widen(const Tensor& tensor, std::int64_t* out) { widen_each(tensor, out); }
void Bind::widen(const Tensor& tensor, std::uint64_t* out) { widen_each(tensor, out); }
void Bind::narrow(const float* in, Tensor& tensor) { narrow_each(in, tensor); }
void Bind::narrow(const double* in, Tensor& tensor) { narrow_each(in, tensor); }
void Bind::narrow(const std::int64_t* in, Tensor& tensor) { narrow_each(in, tensor); }
void Bind::narrow(const std::uint64_t* in, Tensor& tensor) { narrow_each(in, tensor); }

Tensor shape_only_tensor(Type type, const Shape& shape) {
  Tensor empty(is_packed(type) ? Type::uint8 : type, Shape{0});
  const_cast<Shape&>(empty.shape()) = shape;
  return empty;
}

namespace {
thread_local bool shape_only_outputs = false;
}

ShapeOnlyOutputs::ShapeOnlyOutputs() { shape_only_outputs = true; }
ShapeOnlyOutputs::~ShapeOnlyOutputs() { shape_only_outputs = false; }

Tensor& Bind::made(Index k, Type type, const Shape& shape) {
  auto made = std::make_unique<Tensor>();
  if (shape_only_outputs && type != Type::string) {
    alignas(64) static std::byte nowhere[64];
    *made = tensor_at(nowhere, type, shape);
    outputs_.emplace_back(k, std::move(made));
    return *outputs_.back().second;
  }
  // The caller may have placed the output in memory of its own. It is zeroed like a new one.
  const bool placed = k < static_cast<Index>(call_.outputs.size()) &&
                      call_.outputs[static_cast<std::size_t>(k)].is_tensor();
  if (placed && type != Type::string) *made = call_.outputs[static_cast<std::size_t>(k)].tensor();
  if (made->type() != type || made->shape() != shape)
    *made = Tensor(type, shape);
  else if (!made->bytes().empty())
    std::memset(made->bytes().data(), 0, made->bytes().size());
  outputs_.emplace_back(k, std::move(made));
  return *outputs_.back().second;
}

void Bind::finish() {
  for (const auto& finisher : finishers_) finisher();
  for (auto& [k, tensor] : outputs_) {
    if (k < static_cast<Index>(call_.outputs.size()))
      call_.outputs[static_cast<std::size_t>(k)] = std::move(*tensor);
  }
}

Tensor cast_tensor(const Tensor& from, Type to, bool saturate, std::string_view rounding) {
  if (from.type() != to && (facts(from.type()).is_complex || facts(to).is_complex)) {
    throw breach("model/type", "a tensor(" + std::string(name(from.type())) + ") is not cast to " +
                                   std::string(name(to)) + ": no cast knows complex numbers");
  }
  Rounding way = Rounding::nearest_even;
  if (to == Type::float8e8m0) {
    if (rounding == "up")
      way = Rounding::up;
    else if (rounding == "down")
      way = Rounding::down;
    else if (rounding == "nearest")
      way = Rounding::nearest_up;
    else
      throw Error(ErrorKind::invalid_model,
                  "round_mode '" + std::string(rounding) + "' is none of up, down, nearest");
  }
  Tensor result(to, from.shape());
  convert(from, result, cast_saturation(to, saturate), way);
  return result;
}

Tensor reinterpreted(const Tensor& from, Type to) {
  if (from.type() == Type::string || to == Type::string ||
      facts(from.type()).bits != facts(to).bits) {
    throw Error(ErrorKind::invalid_input, "the bits of a tensor(" + std::string(name(from.type())) +
                                              ") cannot be read as " + std::string(name(to)) +
                                              ": their elements are not of one size");
  }
  if (to == Type::boolean) {  // as in a file: only 0 and 1 are codes of a bool
    const auto* codes = from.data<std::uint8_t>();
    const auto* other =
        std::find_if(codes, codes + from.size(), [](std::uint8_t code) { return code > 1; });
    if (other != codes + from.size()) {
      throw Error(ErrorKind::invalid_input, "element " + std::to_string(other - codes) + " is " +
                                                std::to_string(*other) +
                                                ", whose bits are no bool");
    }
  }
  Tensor made(to, from.shape());
  if (!from.bytes().empty())
    std::memcpy(made.bytes().data(), from.bytes().data(), from.bytes().size());
  return made;
}

}  // namespace touchstone
