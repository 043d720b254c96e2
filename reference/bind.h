// Binds a kernel's parameters to the values of a call. Unpacks types under 8 bits to one byte per
// element while the kernel runs, and packs its outputs again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference/call.h"
#include "reference/facts.h"
#include "reference/registry.h"
#include "reference/view.h"

namespace touchstone {

// Carrier types of data movement: it reads no element's value, so one kernel serves every type of a
// size.
template <class U>
struct Bits {
  U u{};
};
struct Pair64 {
  std::uint64_t a = 0, b = 0;
};
template <class C>
constexpr bool is_carrier = false;
template <class U>
constexpr bool is_carrier<Bits<U>> = true;
template <class C>
requires is_carrier<C> C constant(double) { return {}; }

// Arithmetic kernels are compiled once per class of types; narrower types are widened to it
// exactly.
template <class T>
constexpr bool is_class = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                          std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>;
template <class T>
bool is_of_class(Type type) {
  if (type == type_of<T>) return true;
  if (type == Type::undefined || type == Type::float64 || type == Type::uint64) return false;
  if constexpr (std::is_same_v<T, float>) return facts(type).is_float;
  if constexpr (std::is_same_v<T, std::int64_t>) return facts(type).is_integer;
  return false;
}
// Calls f with the class among Ts that `type` computes in; returns false if there is none.
template <class... Ts, class F>
bool with_class(Type type, F&& f) {
  return ((is_of_class<Ts>(type) ? (f.template operator()<Ts>(), true) : false) || ...);
}

// Views of one call's inputs and outputs. It owns the converted copies, so it must outlive the
// views.
class Bind {
 public:
  explicit Bind(Call& call) : call_(call) {}
  Bind(const Bind&) = delete;
  Bind& operator=(const Bind&) = delete;

  template <class T>
  View<const T> in(Index k) {
    if (k >= static_cast<Index>(call_.inputs.size()) ||
        !call_.inputs[static_cast<std::size_t>(k)].is_tensor())
      return {};
    return of<T>(call_.inputs[static_cast<std::size_t>(k)].tensor());
  }
  template <class T>
  std::vector<View<const T>> family(Index from) {
    std::vector<View<const T>> all;
    for (Index k = from; k < static_cast<Index>(call_.inputs.size()); ++k) all.push_back(in<T>(k));
    return all;
  }
  template <class T>
  View<const T> of(const Tensor& tensor) {
    if constexpr (is_carrier<T>) {
      if (is_packed(tensor.type()))
        return {reinterpret_cast<const T*>(unpacked(tensor)), tensor.shape(), tensor.type()};
      return {tensor.data<T>(), tensor.shape(), tensor.type()};
    } else {
      if (tensor.type() == type_of<T>) return {tensor.data<T>(), tensor.shape(), tensor.type()};
      if constexpr (is_class<T>) {
        T* held = scratch<T>(tensor.size());
        widen(tensor, held);
        return {held, tensor.shape(), tensor.type()};
      } else {
        BUG("a tensor meets a kernel of another type");
      }
    }
  }
  template <class T>
  View<const T> attribute(const Facts& facts, std::string_view name) {
    const Tensor* tensor = facts.tensor(name);
    return tensor ? of<T>(*tensor) : View<const T>{};
  }
  // An integer tensor of indices, of any integer type.
  View<const std::int64_t> indices(Index k);
  // A tensor of any real type, read-only as double.
  View<const double> reals(Index k);

  // Allocates output k for the kernel to fill. An output that the node omits is still computed and
  // then dropped.
  template <class T>
  View<T> out(Index k, Type type, const Shape& shape) {
    Tensor& tensor = made(k, type, shape);
    if constexpr (is_carrier<T>) {
      if (!is_packed(type)) return {tensor.data<T>(), shape, type};
      T* codes = scratch<T>(tensor.size());
      finishers_.push_back([codes, &tensor] {
        pack(
            {reinterpret_cast<const std::uint8_t*>(codes), static_cast<std::size_t>(tensor.size())},
            tensor);
      });
      return {codes, shape, type};
    } else {
      if (type == type_of<T>) return {tensor.data<T>(), shape, type};
      if constexpr (is_class<T>) {
        T* held = scratch<T>(tensor.size());
        finishers_.push_back([held, &tensor] { narrow(held, tensor); });
        return {held, shape, type};
      } else {
        BUG("an output meets a kernel of another type");
      }
    }
  }
  // A variadic output, starting at output k.
  template <class T>
  std::vector<View<T>> out_family(Index k, Type type, const std::vector<Shape>& shapes) {
    std::vector<View<T>> all;
    for (const Shape& each : shapes)
      all.push_back(out<T>(k + static_cast<Index>(all.size()), type, each));
    return all;
  }
  // Converts and moves the outputs to the call; to be called after the kernel ran.
  void finish();

 private:
  template <class T>
  T* scratch(Index size) {
    charge_scratch(bytes_of_array(Shape{size}, sizeof(T)));
    auto held = std::shared_ptr<T[]>(new T[static_cast<std::size_t>(size)]());
    scratch_.push_back(held);
    return held.get();
  }
  std::uint8_t* unpacked(const Tensor& tensor);
  // Conversion between a tensor of a narrower type and its compute class. A value is rounded once,
  // when stored.
  static void widen(const Tensor& tensor, float* out);
  static void widen(const Tensor& tensor, double* out);
  static void widen(const Tensor& tensor, std::int64_t* out);
  static void widen(const Tensor& tensor, std::uint64_t* out);
  static void narrow(const float* in, Tensor& tensor);
  static void narrow(const double* in, Tensor& tensor);
  static void narrow(const std::int64_t* in, Tensor& tensor);
  static void narrow(const std::uint64_t* in, Tensor& tensor);
  Tensor& made(Index k, Type type, const Shape& shape);

  Call& call_;
  std::vector<std::shared_ptr<void>> scratch_;
  std::vector<std::pair<Index, std::unique_ptr<Tensor>>> outputs_;
  std::vector<std::function<void()>> finishers_;
};

// Calls f with the carrier of the type's size, for data movement kernels.
template <class F>
bool with_carrier(Type type, F&& f) {
  if (type == Type::string) return f.template operator()<std::string>(), true;
  switch (std::max(facts(type).bits, 8)) {
    case 8:
      f.template operator()<Bits<std::uint8_t>>();
      return true;
    case 16:
      f.template operator()<Bits<std::uint16_t>>();
      return true;
    case 32:
      f.template operator()<Bits<std::uint32_t>>();
      return true;
    case 64:
      f.template operator()<Bits<std::uint64_t>>();
      return true;
    case 128:
      f.template operator()<Bits<Pair64>>();
      return true;
    default:
      return false;
  }
}

// Makes an output an alias of an input, under another shape if one is given. Returns false if the
// plan chose no input.
template <class S>
bool hand_on(Call& call, Index output, Index input, const S& shape) {
  if (input < 0) return false;
  const Value& value = call.inputs[static_cast<std::size_t>(input)];
  std::optional<Shape> seen = shape;
  Value& to = call.outputs[static_cast<std::size_t>(output)];
  if (value.is_tensor() && seen)
    to = value.tensor().reshaped(*seen);
  else
    to = value;
  return true;
}

// Converts every element to a type that is known only at run time.
Tensor cast_tensor(const Tensor& from, Type to, bool saturate = true,
                   std::string_view rounding = "nearest");

// The same bits as elements of another type of the same size.
Tensor reinterpreted(const Tensor& from, Type to);

template <class Plan, class F>
Inferred inferred(const Facts& facts, F fill) {
  Inferred known;
  try {
    fill(Plan(facts), known);
  } catch (const NotKnown&) {
    known = Inferred();
    known.partial = true;
    if constexpr (requires { Plan::output_types(facts); }) {
      for (const Type type : Plan::output_types(facts)) known.add(type, std::nullopt);
    }
  }
  return known;
}

// -- helpers that kernels call

// The element of a scalar input, or `otherwise` if the input is omitted.
template <class T, class C>
auto scalar_or(const View<T>& v, const C& otherwise) {
  if (!v.given()) return otherwise;
  if (count(v.shape) != 1) v.outside({});
  return C(load(v.data[0]));
}
template <class T>
auto scalar_of(const View<T>& v) {
  if (!v.given() || count(v.shape) != 1) v.outside({});
  return load(v.data[0]);
}
// A tensor's value used as an index: counted from the end if negative. Throws Error (invalid_input)
// if out of range.
inline Index checked_index(const Modular<std::int64_t>& value, Index n) {
  const Index i = wrap(value.v, n);
  if (i < 0 || i >= n) {
    throw Error(ErrorKind::invalid_input, "index " + std::to_string(value.v) +
                                              " is outside an extent of " + std::to_string(n));
  }
  return i;
}
// Value of an index buffer's element.
inline Index as_index(const Modular<std::int64_t>& held) { return held.v; }
template <class I>
const I& as_index(const I& held) {
  return held;
}
inline Index plain_index(const Modular<std::int64_t>& value) { return value.v; }

// A box iterated as an outer box and one innermost dimension.
struct Split {
  Shape outer;
  Index inner = 1;
  bool flat = true;
  explicit Split(const Shape& shape)
      : outer(head(shape, max(shape.size() - 1, Index{0}))), flat(shape.empty()) {
    if (!flat) inner = shape.back();
    if (inner == 0) outer = Shape{0};  // rows without elements are not walked, however many
  }
  IndexVector point(const IndexVector& o, Index c) const {
    IndexVector p = o;
    if (!flat) p.push_back(c);
    return p;
  }
};

}  // namespace touchstone
