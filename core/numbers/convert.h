// Conversions between element types: a code to its exact value, a value to the nearest code. They
// are integer code of our own, so they do not depend on the machine or its rounding and flush
// modes. Single elements go through long double, which holds every value of every real type
// exactly; the inline ones are for kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "core/numbers/storage.h"
#include "core/tensor.h"

namespace touchstone {

static_assert(std::numeric_limits<long double>::digits >= 64,
              "long double must hold every int64 and uint64");

// yes: a value past the range becomes the largest of its sign (NaN: 0 for integers). no: floats
// follow their format's overflow, integers keep the low bits of the truncated value (NaN and
// infinities: 0). float4 and float6 always saturate.
enum class Saturate : bool { no, yes };

// up: away from zero, down: towards zero. Integers are always truncated: round before if needed.
enum class Rounding { nearest_even, nearest_up, up, down };

// Returns the exact value of a code. Bits above the type's width are ignored, but every non-zero
// bool is 1. BUG for string and complex types.
long double decode(Type type, std::uint64_t code);
std::uint64_t encode(Type type, long double value, Saturate saturate = Saturate::no,
                     Rounding rounding = Rounding::nearest_even);

// Saturation mode of a cast to `to` with the given attribute `saturate`, which only float8 types
// honor.
Saturate cast_saturation(Type to, bool attribute);

// Access to one element of a tensor of a real type, packed or not.
std::uint64_t code_at(const Tensor& tensor, Index element);
void set_code(Tensor& tensor, Index element, std::uint64_t code);
long double number_at(const Tensor& tensor, Index element);
void set_number(Tensor& tensor, Index element, long double value, Saturate saturate = Saturate::no,
                Rounding rounding = Rounding::nearest_even);

// Batch versions: elements from `first` on, as many as the span has.
void decode_range(const Tensor& tensor, Index first, std::span<long double> values);
void encode_range(Tensor& tensor, Index first, std::span<const long double> values,
                  Saturate saturate = Saturate::no, Rounding rounding = Rounding::nearest_even);

// Converts every element of `from` to the type of `to`, in order, strings included
// (core/numbers/text.h). Both tensors must have the same number of elements.
void convert(const Tensor& from, Tensor& to, Saturate saturate = Saturate::no,
             Rounding rounding = Rounding::nearest_even);

// Conversions of C++ element types. `to_number` is exact.
template <class T>
long double to_number(T value) {
  if constexpr (is_stored<T>) {
    return decode(type_of<T>, value.code);
  } else {
    return static_cast<long double>(value);
  }
}

template <class T>
T from_number(long double value, Saturate saturate = Saturate::no,
              Rounding rounding = Rounding::nearest_even) {
  const std::uint64_t code = encode(type_of<T>, value, saturate, rounding);
  if constexpr (is_stored<T>) {
    return T{static_cast<decltype(T::code)>(code)};
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(code));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(code);
  } else {
    return static_cast<T>(code);
  }
}

// float16 and bfloat16 from and to float, for kernels. Subnormals are kept in every flush mode;
// a NaN becomes the quiet one of its sign.
inline float to_float(Float16 half) {
  const std::uint32_t sign = (half.code & 0x8000U) << 16;
  const std::uint32_t magnitude = half.code & 0x7FFFU;
  if (magnitude >= 0x7C00U)
    return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  if (magnitude >= 0x0400U) return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
  if (magnitude == 0) return std::bit_cast<float>(sign);
  const auto top = static_cast<std::uint32_t>(
      31 - std::countl_zero(magnitude));  // the value is magnitude * 2^-24
  return std::bit_cast<float>(sign | (top + 103U) << 23 | (magnitude << (23U - top) & 0x7FFFFFU));
}

inline Float16 to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t code = 0;
  if (magnitude > 0x7F800000U) {
    code = 0x7E00U;
  } else if (magnitude >= 0x47800000U) {  // 65536 and above
    code = 0x7C00U;
  } else if (magnitude >= 0x38800000U) {
    // A carry propagates into the exponent, and from the largest value into infinity.
    code = (magnitude - (112U << 23) + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
  } else if (magnitude >= 0x33000000U) {                  // half the smallest subnormal and above
    const std::uint32_t drop = 126U - (magnitude >> 23);  // 14 ... 24
    const std::uint32_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
    code = (significand + (1U << (drop - 1)) - 1U + (significand >> drop & 1U)) >> drop;
  }
  return {static_cast<std::uint16_t>(sign | code)};
}

inline float to_float(BFloat16 half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half.code) << 16);
}

inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
    return {static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | 0x7FC0U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
}

// The other small formats use a table indexed by code: each of their values is a float.
const float* small_float_values(Type type);  // 256 floats; types of 8 bits or fewer, integers too

template <Type type>
float to_float(Stored<type, std::uint8_t> value) {
  static const float* const values = small_float_values(type);
  return values[value.code];
}
inline float to_float(float value) { return value; }

}  // namespace touchstone
