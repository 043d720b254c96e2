// The facts of a floating-point format at run time, as bounds and conversions need them. Their home
// is spec/types.yaml.
#pragma once

#include <bit>
#include <cstdint>

#include "core/types.h"

namespace touchstone {

enum class Overflow {
  infinity,
  nan,
  largest
};  // what a finite value past the largest becomes without saturation

struct Format {
  enum class Nan { ieee, all_ones, minus_zero, none };

  Type type;
  int bits;
  int precision;  // of the significand, the hidden bit counted
  int bias;
  bool is_signed;
  bool has_infinity;
  Nan nan;
  std::uint64_t nan_code;  // what a NaN converts to, the sign aside
  Overflow overflow;
  bool has_zero;
  double largest, smallest_normal,
      smallest_subnormal;  // float8e8m0 has no subnormals: the smallest value twice

  bool has_nan() const { return nan != Nan::none; }
  double unit_roundoff() const;                                       // 2^-precision
  int least_exponent() const { return has_zero ? 1 - bias : -bias; }  // of the smallest normal
  std::uint64_t sign_bit() const { return is_signed ? std::uint64_t{1} << (bits - 1) : 0; }
  std::uint64_t infinity_code() const { return largest_code() + 1; }  // where there is one
  std::uint64_t largest_code() const {                                // of the largest finite value
    const auto bits = std::bit_cast<std::uint64_t>(largest);
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) >> (53 - precision);
    return (static_cast<std::uint64_t>(largest_exponent() + bias) << (precision - 1)) | mantissa;
  }
  int largest_exponent() const {
    return static_cast<int>(std::bit_cast<std::uint64_t>(largest) >> 52) - 1023;
  }
};

const Format& format_of(Type type);  // BUG if it is no float type

// The least and the greatest value of an integer type.
long double least_integer(Type type);
long double greatest_integer(Type type);

}  // namespace touchstone
