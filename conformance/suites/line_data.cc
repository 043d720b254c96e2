// Generates data without libm: uniform numbers by counter, normal ones as sums of twelve, and
// log-uniform ones by drawing exponents.
#include "conformance/suites/line_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::suites {
namespace {

using Number = long double;

constexpr std::array<std::string_view, 13> regimes{
    "whole", "logs", "cancel", "giant", "special",  "constant", "two",
    "real",  "unit", "size",   "far",   "positive", "above"};

class Draw {
 public:
  Draw(std::uint64_t key, Index element, Type type)
      : state_(key + static_cast<std::uint64_t>(element) * 0x632be59bd9b4e019),
        wide_(type == Type::float64 || type == Type::complex128) {}

  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27U) * 0x94d049bb133111eb;
    return z ^ z >> 31U;
  }
  Number uniform() { return static_cast<Number>(bits() >> 11U) / 9007199254740992.0L; }
  std::uint64_t below(std::uint64_t count) { return bits() % count; }
  // Doubles get random bits to their last, or the rounding errors of their sums would agree.
  Number normal() {
    const int places = wide_ ? 56 : 32;
    std::int64_t sum = 0;
    for (int k = 0; k < 12; ++k) sum += static_cast<std::int64_t>(bits() >> (64 - places));
    return std::ldexp(static_cast<Number>(sum - (std::int64_t{6} << places)), -places);
  }
  Number sign() { return below(2) == 0 ? 1.0L : -1.0L; }

 private:
  std::uint64_t state_;
  bool wide_;
};

// Returns the number of binades that log-uniform data spans, half of them below one.
int binades(Type type) {
  const int bits = facts(type).bits;
  if (bits == 64 || type == Type::complex128) return 120;
  if (bits == 32 || type == Type::bfloat16 || type == Type::complex64) return 40;
  return bits == 16 ? 12 : 4;
}

Number special_float(Type type, Draw& draw) {
  const Number plain = draw.normal();
  if (draw.below(3) != 0) return plain;
  const Format& format = format_of(type);
  const Number infinity = std::numeric_limits<Number>::infinity();
  const Number odd[] = {format.has_nan() ? std::numeric_limits<Number>::quiet_NaN() : 1.0L,
                        format.has_infinity ? infinity : format.largest,
                        format.has_infinity ? -infinity : -format.largest,
                        0.0L,
                        -0.0L,
                        format.largest,
                        -static_cast<Number>(format.largest),
                        format.smallest_subnormal,
                        -static_cast<Number>(format.smallest_subnormal),
                        format.smallest_normal,
                        -static_cast<Number>(format.smallest_normal),
                        1.0L,
                        -1.0L,
                        0.5L,
                        2.5L};
  return odd[draw.below(std::size(odd))];
}

// `element` counts from 0 along the last axis.
Number real_number(std::string_view regime, Type type, Draw& draw, Draw shared, Index element) {
  if (regime == "special") return special_float(type, draw);
  if (regime == "whole") return static_cast<Number>(draw.below(17)) - 8;
  if (regime == "logs") {
    const int span = binades(type);
    const int exponent = static_cast<int>(draw.below(static_cast<std::uint64_t>(span))) - span / 2;
    return draw.sign() * std::ldexp(1 + draw.uniform(), exponent);
  }
  if (regime == "cancel") return (element % 2 == 0 ? 100 : -100) + draw.normal();
  if (regime == "giant") {
    const Number size = draw.below(12) == 0 ? std::ldexp(1.0L, binades(type) / 2) : 1.0L;
    return size * draw.normal();
  }
  if (regime == "constant") return 0.1L + shared.uniform();
  if (regime == "two") return draw.below(2) == 0 ? 0.1L : -1.7L;
  if (regime == "unit") return 2 * draw.uniform() - 1;
  if (regime == "size") return std::fabs(draw.normal());
  if (regime == "far") return (facts(type).bits >= 32 ? 1000 : 20) + draw.normal();
  if (regime == "positive") return 0.25L + 2 * draw.uniform();
  if (regime == "above") return 1 + std::fabs(draw.normal());
  return 0.3L + draw.normal();
}

std::uint64_t integer_code(std::string_view regime, Type type, Draw& draw, Draw shared) {
  const TypeFacts& is = facts(type);
  const auto bits = static_cast<unsigned>(is.bits);
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  if (regime == "special") {
    const std::uint64_t past_double = bits == 64 ? (std::uint64_t{1} << 53U) + 1 : 1;
    const std::uint64_t odd[] = {
        0, 1, all, top, top - 1, top + 1, past_double, 0 - past_double, 2, draw.bits()};
    return odd[draw.below(std::size(odd))] & all;
  }
  if (regime == "logs") {
    const std::uint64_t size =
        (draw.bits() | std::uint64_t{1} << 63U) >> (64 - 1 - draw.below(bits));
    return (is.is_signed && draw.below(2) == 0 ? 0 - size : size) & all;
  }
  if (regime == "constant") return (1 + shared.below(3)) & all;
  if (regime == "two") return draw.below(2);
  if (regime == "size" || regime == "positive" || !is.is_signed) {
    const std::uint64_t most = std::min<std::uint64_t>(9, is.is_signed ? top - 1 : all);
    if (most == 1 && regime == "size") return draw.below(2);  // the full range of a two-bit type
    return draw.below(most) + (regime == "positive" ? 1 : 0);
  }
  const std::uint64_t most = std::min<std::uint64_t>(9, top);
  return (draw.below(2 * most) - most) & all;
}

std::string word(std::string_view regime, Draw& draw, Draw shared) {
  static const char* const plain[] = {"a",    "b",   "abc",    "Abc", "ABC", "7",
                                      "-1.5", "x y", "monday", "the", "zz"};
  static const char* const odd[] = {"",
                                    " ",
                                    "a",
                                    "A",
                                    "\xc3\xbc",
                                    "u\xcc\x88",
                                    "\xc3\x9f",
                                    "SS",
                                    "\xe6\x97\xa5\xe6\x9c\xac",
                                    "\xf0\x9f\x98\x80",
                                    "nan",
                                    "1e5",
                                    "-0",
                                    " x ",
                                    "\xc4\xb0",
                                    "a\tb",
                                    "123456789012345678901234567890"};
  if (regime == "special") return odd[draw.below(std::size(odd))];
  if (regime == "constant") return plain[shared.below(std::size(plain))];
  if (regime == "two") return plain[draw.below(2)];
  return plain[draw.below(std::size(plain))];
}

}  // namespace

bool is_regime(std::string_view name) {
  return std::find(regimes.begin(), regimes.end(), name) != regimes.end();
}

void fill(Tensor& tensor, std::string_view regime, std::uint64_t key) {
  const Type type = tensor.type();
  const TypeFacts& is = facts(type);
  const Draw shared(key ^ 0x5bd1e995, -1, type);
  for (Index k = 0; k < tensor.size(); ++k) {
    Draw draw(key, k, type);
    if (type == Type::string) {
      tensor.data<std::string>()[k] = word(regime, draw, shared);
    } else if (type == Type::boolean) {
      set_code(tensor, k, regime == "constant" ? 1 : draw.below(2));
    } else if (type == Type::complex64 || type == Type::complex128) {
      const Type part = type == Type::complex64 ? Type::float32 : Type::float64;
      for (Index side = 0; side < 2; ++side) {
        const Number value = real_number(regime, part, draw, shared, k);
        if (type == Type::complex64)
          tensor.data<float>()[2 * k + side] = static_cast<float>(value);
        else
          tensor.data<double>()[2 * k + side] = static_cast<double>(value);
      }
    } else if (is.is_integer) {
      set_code(tensor, k, integer_code(regime, type, draw, shared));
    } else {
      set_number(tensor, k, real_number(regime, type, draw, shared, k), Saturate::no);
    }
  }
}

}  // namespace touchstone::suites
