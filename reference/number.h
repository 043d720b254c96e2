// Native numbers: the arithmetic of generated kernels when they run models. The extended precision
// numbers (reference/semantics/) provide the same names, so that one kernel source serves all.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>

#include "core/budget.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "core/numbers/storage.h"
#include "reference/semantics/tri_bool.h"

namespace touchstone {

// An integer modulo 2^n, computed unsigned, so that no overflow is undefined.
template <class T>
struct Modular {
  using Unsigned = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
  T v = 0;

  Modular() = default;
  constexpr explicit Modular(T value) : v(value) {}
  static Modular wrap(Unsigned u) { return Modular(static_cast<T>(u)); }
  Unsigned u() const { return static_cast<Unsigned>(v); }

  friend Modular operator+(Modular a, Modular b) { return wrap(a.u() + b.u()); }
  friend Modular operator-(Modular a, Modular b) { return wrap(a.u() - b.u()); }
  friend Modular operator*(Modular a, Modular b) { return wrap(a.u() * b.u()); }
  friend Modular operator-(Modular a) { return wrap(Unsigned{0} - a.u()); }
  friend Modular operator/(Modular a, Modular b) {  // towards zero
    if (b.v == 0) throw Error(ErrorKind::invalid_input, "an integer is divided by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b.v == -1) return -a;
    }
    return Modular(static_cast<T>(a.v / b.v));
  }
};

// Compute type of a tensor's element: float for float16 and narrower, integers modulo 2^n, the
// others unchanged.
template <class T>
struct ComputeOf {
  using Is = T;
};
template <Type type, class Code>
struct ComputeOf<Stored<type, Code>> {
  using Is = float;
};
template <>
struct ComputeOf<Int4> {
  using Is = Modular<std::int8_t>;
};
template <>
struct ComputeOf<UInt4> {
  using Is = Modular<std::uint8_t>;
};
template <>
struct ComputeOf<Int2> {
  using Is = Modular<std::int8_t>;
};
template <>
struct ComputeOf<UInt2> {
  using Is = Modular<std::uint8_t>;
};
#define TOUCHSTONE_MODULAR(T) \
  template <>                 \
  struct ComputeOf<T> {       \
    using Is = Modular<T>;    \
  };
TOUCHSTONE_MODULAR(std::int8_t)
TOUCHSTONE_MODULAR(std::int16_t)
TOUCHSTONE_MODULAR(std::int32_t)
TOUCHSTONE_MODULAR(std::int64_t)
TOUCHSTONE_MODULAR(std::uint8_t)
TOUCHSTONE_MODULAR(std::uint16_t)
TOUCHSTONE_MODULAR(std::uint32_t)
TOUCHSTONE_MODULAR(std::uint64_t)
#undef TOUCHSTONE_MODULAR
template <class T>
using Compute = typename ComputeOf<std::remove_const_t<T>>::Is;

template <class C>
constexpr bool is_modular = false;
template <class T>
constexpr bool is_modular<Modular<T>> = true;
template <class T>
constexpr bool is_integer_element = is_modular<Compute<T>>;
template <class T>
constexpr bool is_signed_element =
    is_integer_element<T>&& std::is_signed_v<decltype(Compute<T>::v)>;

// Type of the sort `real` (coordinates, scales) next to elements of T: double for double, else
// float.
template <class T>
struct RealOf {
  using Is = float;
};
template <>
struct RealOf<double> {
  using Is = double;
};
template <class T>
using Real = typename RealOf<std::remove_const_t<T>>::Is;

template <class T>
Compute<T> load(const T& element) {
  if constexpr (std::is_same_v<Compute<T>, T>) {
    return element;
  } else if constexpr (is_integer_element<T> && is_stored<T>) {
    return Compute<T>(static_cast<decltype(Compute<T>::v)>(decode(type_of<T>, element.code)));
  } else if constexpr (is_integer_element<T>) {
    return Compute<T>(element);
  } else {
    return to_float(element);
  }
}

template <class T>
void put(T& slot, Type, const Compute<T>& value) {
  if constexpr (std::is_same_v<Compute<T>, T>) {
    if constexpr (std::is_same_v<T, std::string>) charge_text(static_cast<Index>(value.size()));
    slot = value;
  } else if constexpr (is_integer_element<T>) {
    slot = from_number<T>(static_cast<long double>(value.v));
  } else if constexpr (std::is_same_v<T, Float16>) {
    slot = to_float16(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    slot = to_bfloat16(value);
  } else {
    slot = from_number<T>(value);
  }
}

// Exact integer types are stored without going through long double.
#define TOUCHSTONE_PUT(T) \
  inline void put(T& slot, Type, const Modular<T>& value) { slot = value.v; }
TOUCHSTONE_PUT(std::int8_t)
TOUCHSTONE_PUT(std::int16_t)
TOUCHSTONE_PUT(std::int32_t)
TOUCHSTONE_PUT(std::int64_t)
TOUCHSTONE_PUT(std::uint8_t)
TOUCHSTONE_PUT(std::uint16_t)
TOUCHSTONE_PUT(std::uint32_t)
TOUCHSTONE_PUT(std::uint64_t)
#undef TOUCHSTONE_PUT

// -- constructors
template <class C>
requires std::is_floating_point_v<C> C constant(double x) { return static_cast<C>(x); }
template <class C>
requires is_modular<C> C constant(double x) { return C(static_cast<decltype(C::v)>(x)); }
template <class C>
requires std::is_same_v<C, std::complex<float>> || std::is_same_v<C, std::complex<double>> C
constant(double x) {
  return C(static_cast<typename C::value_type>(x));
}
template <class C>
requires std::is_same_v<C, bool> C constant(double x) { return x != 0; }
// The zero of copied strings is the empty one.
template <class C>
requires std::is_same_v<C, std::string> C constant(double) { return {}; }

template <class C>
requires std::is_floating_point_v<C> C from_index(Index i) { return static_cast<C>(i); }
template <class C>
requires is_modular<C> C from_index(Index i) { return C(static_cast<decltype(C::v)>(i)); }

// Converts a real to the compute type of the elements next to it.
template <class C, class R>
requires std::is_floating_point_v<C> && std::is_floating_point_v<R> C from_real(R x) {
  return static_cast<C>(x);
}
template <class R>
requires std::is_floating_point_v<R> R to_real(float x) { return static_cast<R>(x); }
template <class R>
requires std::is_floating_point_v<R> R to_real(double x) { return static_cast<R>(x); }
template <class R, class T>
requires std::is_floating_point_v<R> R to_real(Modular<T> x) { return static_cast<R>(x.v); }

// True if T is an extended precision number. Recurrences then follow the target's answer.
template <class T>
constexpr bool is_extended = false;

// Smallest and largest finite value of the call's actual type, of which T is the class.
template <class T>
requires(!is_extended<T>) Compute<T> lowest(Type type) {
  if constexpr (is_integer_element<T>)
    return Compute<T>(static_cast<T>(least_integer(type)));
  else
    return static_cast<Compute<T>>(-format_of(type).largest);
}
template <class T>
requires(!is_extended<T>) Compute<T> highest(Type type) {
  if constexpr (is_integer_element<T>)
    return Compute<T>(static_cast<T>(greatest_integer(type)));
  else
    return static_cast<Compute<T>>(format_of(type).largest);
}

template <class T>
long double as_number(const Modular<T>& x) {
  return static_cast<long double>(x.v);
}
inline long double as_number(float x) { return x; }
inline long double as_number(double x) { return x; }
inline long double as_number(bool x) { return x ? 1 : 0; }

// convert<T>(x): x as an element of the actual type, of which T is the class. Integers are
// truncated; saturate clamps (Cast's rules, core/numbers).
template <class T, class C>
requires(!is_extended<T>) Compute<T> convert_element(const C& x, Type type, bool saturate = false) {
  if (std::is_same_v<C, Compute<T>> && type == type_of<T>) {
    if constexpr (std::is_same_v<C, Compute<T>>) return x;
  }
  const std::uint64_t code = encode(type, as_number(x), saturate ? Saturate::yes : Saturate::no);
  if constexpr (std::is_same_v<T, bool>)
    return code != 0;
  else
    return Compute<T>(static_cast<T>(decode(type, code)));
}
// round_to<type>(x): x rounded to a narrower type, still computing in C.
template <class C>
C round_number(const C& x, Type type) {
  return static_cast<C>(decode(type, encode(type, as_number(x))));
}

// -- comparisons
template <class C>
bool less(const C& a, const C& b) {
  if constexpr (is_modular<C>)
    return a.v < b.v;
  else
    return a < b;
}
template <class C>
bool less_equal(const C& a, const C& b) {
  if constexpr (is_modular<C>)
    return a.v <= b.v;
  else
    return a <= b;
}
template <class C>
bool equal(const C& a, const C& b) {
  if constexpr (is_modular<C>)
    return a.v == b.v;
  else
    return a == b;
}
template <class C>
bool is_nan(const C& a) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isnan(a);
  else
    return false;
}
template <class C>
bool is_inf(const C& a) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isinf(a);
  else
    return false;
}
template <class C>
C select(bool predicate, const C& a, const C& b) {
  return predicate ? a : b;
}
// Notes that an argmax compares two numbers; bounded ones may be too close for it.
template <class C>
void note_choice(const C&, const C&) {}
inline bool surely(bool predicate) { return predicate; }  // the exact values' answer, for branches

// -- accumulators
template <class C>
struct Sum {
  C v = constant<C>(0);
  void add(const C& x) { v = v + x; }
  void subtract(const C& x) { v = v - x; }
  C get() const { return v; }
};
template <class C>
struct Prod {
  C v = constant<C>(1);
  void add(const C& x) { v = v * x; }
  C get() const { return v; }
};
// NaN wins. Of nothing: the neutral element.
template <class C>
struct Max {
  C v{};
  bool any = false;
  void add(const C& x) {
    if (!any || less(v, x) || is_nan(x)) v = x;
    any = true;
  }
  bool empty() const { return !any; }
  C get() const {
    if constexpr (std::is_floating_point_v<C>)
      return any ? v : -std::numeric_limits<C>::infinity();
    else
      return any ? v : C(std::numeric_limits<decltype(C::v)>::lowest());
  }
};
template <class C>
struct Min {
  C v{};
  bool any = false;
  void add(const C& x) {
    if (!any || less(x, v) || is_nan(x)) v = x;
    any = true;
  }
  bool empty() const { return !any; }
  C get() const {
    if constexpr (std::is_floating_point_v<C>)
      return any ? v : std::numeric_limits<C>::infinity();
    else
      return any ? v : C(std::numeric_limits<decltype(C::v)>::max());
  }
};

// -- coordinates
namespace detail {
template <class R>
Index to_index(R x) {
  if (!(std::fabs(x) < R(9e18)))
    throw Error(ErrorKind::invalid_input, "a coordinate is no number or too large for an index");
  return static_cast<Index>(x);
}
}  // namespace detail
template <class R>
requires std::is_floating_point_v<R> Index floor_index(R x) {
  return detail::to_index(std::floor(x));
}
template <class R>
requires std::is_floating_point_v<R> Index ceil_index(R x) {
  return detail::to_index(std::ceil(x));
}
// Rounding in shape expressions: always that of float, in all semantics.
inline Index floor_now(float x) { return floor_index(x); }
inline Index ceil_now(float x) { return ceil_index(x); }
template <class R>
requires std::is_floating_point_v<R> R real(Index i) { return static_cast<R>(i); }

// Type that a real-valued input is bound as; it holds every value of the admitted types.
template <class T>
struct RealInOf {
  using Is = double;
};
template <class T>
using RealIn = typename RealInOf<std::remove_const_t<T>>::Is;

// Index type of the semantics: Index here, an interval in bounded.
template <class T>
struct IndexOf {
  using Is = Index;
};
template <class T>
using IndexIn = typename IndexOf<std::remove_const_t<T>>::Is;

}  // namespace touchstone
