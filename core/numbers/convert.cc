// Decodes and encodes one code from the facts of its format. To encode, a value is split into sign,
// a 64-bit significand and an exponent. Bits below the 64 are kept as a sticky last bit, so
// rounding happens once.
#include "core/numbers/convert.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numbers/formats.h"

namespace touchstone {
namespace {

struct Parts {  // significand * 2^(exponent - 63), top bit set
  std::uint64_t significand;
  int exponent;
};

Parts take_apart(long double magnitude) {
#if defined(__x86_64__)
  // The bits of an x87 number already are these parts. Its own subnormals lack the top bit. They
  // are so far below every format that only their being non-zero matters.
  Parts parts{};
  std::uint16_t field = 0;
  std::memcpy(&parts.significand, &magnitude, sizeof parts.significand);
  std::memcpy(&field, reinterpret_cast<const char*>(&magnitude) + sizeof parts.significand,
              sizeof field);
  parts.exponent = (field & 0x7FFF) - 16383;
  return parts;
#else
  int exponent = 0;
  const long double scaled = std::ldexp(std::frexp(magnitude, &exponent), 64);
  auto significand = static_cast<std::uint64_t>(scaled);
  if (static_cast<long double>(significand) != scaled) significand |= 1;
  return {significand, exponent - 1};
#endif
}

bool rounds_up(std::uint64_t rest, std::uint64_t half, bool odd, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return rest > half || (rest == half && odd);
    case Rounding::nearest_up:
      return rest >= half;
    case Rounding::up:
      return rest != 0;
    case Rounding::down:
      return false;
  }
  BUG("a rounding that is none");
}

// Returns the code of a finite magnitude > 0 as if the format had no largest value; the caller
// handles overflow. A format's codes are consecutive, so a carry out of the significand propagates
// into the exponent.
std::uint64_t round_to_code(const Format& format, Parts parts, Rounding rounding) {
  const int below = std::max(0, format.min_exponent() - parts.exponent);
  const int drop = 64 - format.precision + below;
  std::uint64_t kept = 0, rest = 1, half = 2;  // drop > 64: less than half
  if (drop < 64) {
    kept = parts.significand >> drop;
    rest = parts.significand << (64 - drop) >> (64 - drop);
    half = std::uint64_t{1} << (drop - 1);
  } else if (drop == 64) {
    rest = parts.significand;
    half = std::uint64_t{1} << 63;
  }
  std::uint64_t code = kept;
  if (below == 0) {
    const auto field = static_cast<std::uint64_t>(parts.exponent + format.bias);
    code =
        (field << (format.precision - 1)) + (kept - (std::uint64_t{1} << (format.precision - 1)));
  }
  return code + (rounds_up(rest, half, kept & 1, rounding) ? 1 : 0);
}

std::uint64_t overflowed(const Format& format, std::uint64_t sign, Saturate saturate) {
  if (saturate == Saturate::yes || format.overflow == Overflow::largest)
    return sign | format.largest_code();
  return format.overflow == Overflow::infinity ? sign | format.infinity_code()
                                               : sign | format.nan_code;
}

std::uint64_t encode_float(const Format& format, long double value, Saturate saturate,
                           Rounding rounding) {
  const std::uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan_code;
  if (std::isinf(value)) return overflowed(format, sign, saturate);
  if (value == 0) return format.nan == Format::Nan::minus_zero ? 0 : sign;
  const Parts parts = take_apart(std::fabs(value));
  if (parts.exponent > format.largest_exponent()) return overflowed(format, sign, saturate);
  const std::uint64_t code = round_to_code(format, parts, rounding);
  if (code > format.largest_code()) return overflowed(format, sign, saturate);
  return code == 0 && format.nan == Format::Nan::minus_zero ? 0 : sign | code;
}

// float8e8m0 has neither sign nor zero. In every rounding, a value that rounds below its range, as
// if there were more powers of two, becomes its smallest value or NaN.
std::uint64_t encode_scale(const Format& format, long double value, Saturate saturate,
                           Rounding rounding) {
  const std::uint64_t below = saturate == Saturate::yes ? 0 : format.nan_code;
  if (std::isnan(value) || value < 0) return format.nan_code;
  if (value == 0) return below;
  if (std::isinf(value)) return overflowed(format, 0, saturate);
  Parts parts = take_apart(value);
  if (parts.exponent < format.min_exponent()) {
    if (parts.exponent < format.min_exponent() - 1) return below;
    ++parts.exponent;  // one binade up, where codes exist
    return round_to_code(format, parts, rounding) == 1 ? 0 : below;
  }
  if (parts.exponent > format.bias) return overflowed(format, 0, saturate);
  const std::uint64_t code = round_to_code(format, parts, rounding);
  return code > format.largest_code() ? overflowed(format, 0, saturate) : code;
}

std::uint64_t encode_integer(Type type, long double value, Saturate saturate) {
  const TypeFacts& row = facts(type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - row.bits);
  if (std::isnan(value)) return 0;
  if (saturate == Saturate::yes) {
    value = std::fmin(std::fmax(value, least_integer(type)), greatest_integer(type));
  } else if (std::isinf(value)) {
    return 0;
  }
  long double whole = std::trunc(std::fabs(value));
  if (whole >= 0x1p64L) whole = std::fmod(whole, 0x1p64L);
  const auto magnitude = static_cast<std::uint64_t>(whole);
  return (value < 0 ? std::uint64_t{0} - magnitude : magnitude) & mask;
}

long double decode_float(const Format& format, std::uint64_t code) {
  const std::uint64_t magnitude = code & ~format.sign_bit();
  const bool negative = (code & format.sign_bit()) != 0;
  const long double quiet = std::numeric_limits<long double>::quiet_NaN();
  switch (format.nan) {
    case Format::Nan::ieee:
      if (magnitude > format.infinity_code()) return negative ? -quiet : quiet;
      break;
    case Format::Nan::all_ones:
      if (magnitude == format.nan_code) return negative ? -quiet : quiet;
      break;
    case Format::Nan::minus_zero:
      if (code == format.nan_code) return quiet;
      break;
    case Format::Nan::none:
      break;
  }
  long double value = 0;
  if (format.has_infinity && magnitude == format.infinity_code()) {
    value = std::numeric_limits<long double>::infinity();
  } else {
    const int mantissa_bits = format.precision - 1;
    const auto field = static_cast<int>(magnitude >> mantissa_bits);
    std::uint64_t significand = magnitude & ((std::uint64_t{1} << mantissa_bits) - 1);
    int exponent = format.min_exponent();
    if (field != 0 || !format.has_zero) {
      significand |= std::uint64_t{1} << mantissa_bits;
      exponent = field - format.bias;
    }
    value = std::ldexp(static_cast<long double>(significand), exponent - mantissa_bits);
  }
  return negative ? -value : value;
}

}  // namespace

long double decode(Type type, std::uint64_t code) {
  if (type == Type::boolean) return code != 0 ? 1 : 0;
  const TypeFacts& row = facts(type);
  if (row.bits == 0 || row.is_complex) BUG("the number of a string or complex code");
  code &= ~std::uint64_t{0} >> (64 - row.bits);
  if (row.is_float) return decode_float(format_of(type), code);
  if (row.is_signed && code >> (row.bits - 1) != 0) {
    return -static_cast<long double>((~code & ~std::uint64_t{0} >> (64 - row.bits))) - 1;
  }
  return static_cast<long double>(code);
}

std::uint64_t encode(Type type, long double value, Saturate saturate, Rounding rounding) {
  if (type == Type::boolean) return value != 0 ? 1 : 0;
  const TypeFacts& row = facts(type);
  if (row.bits == 0 || row.is_complex) BUG("the code of a string or complex number");
  if (row.is_integer) return encode_integer(type, value, saturate);
  const Format& format = format_of(type);
  return format.has_zero ? encode_float(format, value, saturate, rounding)
                         : encode_scale(format, value, saturate, rounding);
}

Saturate cast_saturation(Type to, bool attribute) {
  const TypeFacts& row = facts(to);
  return attribute && row.is_float && row.bits == 8 ? Saturate::yes : Saturate::no;
}

const float* small_float_values(Type type) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 29> made{};
    for (std::size_t code = 1; code < made.size(); ++code) {
      const TypeFacts& row = facts(static_cast<Type>(code));
      if (row.bits == 0 || row.bits > 8) continue;
      for (std::size_t k = 0; k < 256; ++k) made[code][k] = static_cast<float>(decode(row.type, k));
    }
    return made;
  }();
  if (facts(type).bits == 0 || facts(type).bits > 8)
    BUG("a table of codes for a type of more than 8 bits");
  return tables[static_cast<std::size_t>(type)].data();
}

}  // namespace touchstone
