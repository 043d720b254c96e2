// Run-time facts of the floating-point formats, for bounds and conversions. Their source is
// spec/types.yaml.
#pragma once

#include <bit>
#include <cstdint>

#include "core/types.h"

namespace touchstone {

// Result of a finite value past the largest without saturation.
enum class Overflow { infinity, nan, largest };

// Facts of one floating-point format.
struct Format {
  enum class Nan { ieee, all_ones, minus_zero, none };

  Type type;
  int bits;
  int precision;  // significand bits, the hidden one included
  int bias;
  bool is_signed;
  bool has_infinity;
  Nan nan;
  std::uint64_t nan_code;  // code that a NaN converts to, without the sign
  Overflow overflow;
  bool has_zero;
  double largest, smallest_normal,
      smallest_subnormal;  // float8e8m0 has no subnormals: both hold the smallest value

  bool has_nan() const { return nan != Nan::none; }
  double unit_roundoff() const;  // 2^-precision
  // Exponent of the smallest normal.
  int min_exponent() const { return has_zero ? 1 - bias : -bias; }
  std::uint64_t sign_bit() const { return is_signed ? std::uint64_t{1} << (bits - 1) : 0; }
  std::uint64_t infinity_code() const { return largest_code() + 1; }  // valid if has_infinity
  // Code of the largest finite value.
  std::uint64_t largest_code() const {
    const auto bits = std::bit_cast<std::uint64_t>(largest);
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) >> (53 - precision);
    return (static_cast<std::uint64_t>(largest_exponent() + bias) << (precision - 1)) | mantissa;
  }
  int largest_exponent() const {
    return static_cast<int>(std::bit_cast<std::uint64_t>(largest) >> 52) - 1023;
  }
};

const Format& format_of(Type type);  // BUG if it is not a float type

// The smallest and the largest value of an integer type.
long double least_integer(Type type);
long double greatest_integer(Type type);

}  // namespace touchstone
