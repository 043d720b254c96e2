// In-memory element types of kernels, and the mapping between Type and C++ types. Types that C++
// lacks hold only their code. Types under 8 bits are stored one per byte, with the code in the low
// bits.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/types.h"

namespace touchstone {

// An element held as its raw code.
template <Type type, class Code>
struct Stored {
  Code code;
};

using Float16 = Stored<Type::float16, std::uint16_t>;
using BFloat16 = Stored<Type::bfloat16, std::uint16_t>;
using Float8E4M3FN = Stored<Type::float8e4m3fn, std::uint8_t>;
using Float8E4M3FNUZ = Stored<Type::float8e4m3fnuz, std::uint8_t>;
using Float8E5M2 = Stored<Type::float8e5m2, std::uint8_t>;
using Float8E5M2FNUZ = Stored<Type::float8e5m2fnuz, std::uint8_t>;
using Float8E8M0 = Stored<Type::float8e8m0, std::uint8_t>;
using Float6E2M3 = Stored<Type::float6e2m3, std::uint8_t>;
using Float6E3M2 = Stored<Type::float6e3m2, std::uint8_t>;
using Float4E2M1 = Stored<Type::float4e2m1, std::uint8_t>;
using UInt4 = Stored<Type::uint4, std::uint8_t>;
using Int4 = Stored<Type::int4, std::uint8_t>;
using UInt2 = Stored<Type::uint2, std::uint8_t>;
using Int2 = Stored<Type::int2, std::uint8_t>;

// Element<Type::float16> is Float16: the inverse of type_of.
template <Type type>
struct ElementOf;
template <class T>
struct TypeOfElement;

#define TOUCHSTONE_ELEMENT(type, T)        \
  template <>                              \
  struct ElementOf<Type::type> {           \
    using Is = T;                          \
  };                                       \
  template <>                              \
  struct TypeOfElement<T> {                \
    static constexpr Type is = Type::type; \
  };
TOUCHSTONE_ELEMENT(float32, float)
TOUCHSTONE_ELEMENT(uint8, std::uint8_t)
TOUCHSTONE_ELEMENT(int8, std::int8_t)
TOUCHSTONE_ELEMENT(uint16, std::uint16_t)
TOUCHSTONE_ELEMENT(int16, std::int16_t)
TOUCHSTONE_ELEMENT(int32, std::int32_t)
TOUCHSTONE_ELEMENT(int64, std::int64_t)
TOUCHSTONE_ELEMENT(string, std::string)
TOUCHSTONE_ELEMENT(boolean, bool)
TOUCHSTONE_ELEMENT(float16, Float16)
TOUCHSTONE_ELEMENT(float64, double)
TOUCHSTONE_ELEMENT(uint32, std::uint32_t)
TOUCHSTONE_ELEMENT(uint64, std::uint64_t)
TOUCHSTONE_ELEMENT(complex64, std::complex<float>)
TOUCHSTONE_ELEMENT(complex128, std::complex<double>)
TOUCHSTONE_ELEMENT(bfloat16, BFloat16)
TOUCHSTONE_ELEMENT(float8e4m3fn, Float8E4M3FN)
TOUCHSTONE_ELEMENT(float8e4m3fnuz, Float8E4M3FNUZ)
TOUCHSTONE_ELEMENT(float8e5m2, Float8E5M2)
TOUCHSTONE_ELEMENT(float8e5m2fnuz, Float8E5M2FNUZ)
TOUCHSTONE_ELEMENT(uint4, UInt4)
TOUCHSTONE_ELEMENT(int4, Int4)
TOUCHSTONE_ELEMENT(float4e2m1, Float4E2M1)
TOUCHSTONE_ELEMENT(float8e8m0, Float8E8M0)
TOUCHSTONE_ELEMENT(uint2, UInt2)
TOUCHSTONE_ELEMENT(int2, Int2)
TOUCHSTONE_ELEMENT(float6e2m3, Float6E2M3)
TOUCHSTONE_ELEMENT(float6e3m2, Float6E3M2)
#undef TOUCHSTONE_ELEMENT

template <class T>
constexpr Type type_of = TypeOfElement<T>::is;
template <Type type>
using Element = typename ElementOf<type>::Is;

template <class T>
constexpr bool is_stored = false;
template <Type type, class Code>
constexpr bool is_stored<Stored<type, Code>> = true;

// Calls f.operator()<T>() with the element type of `type`: with_element(type, [&]<class T>() { ...
// }).
template <class F>
decltype(auto) with_element(Type type, F&& f) {
  switch (type) {
#define TOUCHSTONE_TYPE(enumerator, ...) \
  case Type::enumerator:                 \
    return std::forward<F>(f).template operator()<Element<Type::enumerator>>();
#include "core/type_table.inc"
    case Type::undefined:
      break;
  }
  BUG("an element type outside the 28");
}

}  // namespace touchstone
