// Compares the fast conversions with the general ones, which the Python test compares with numpy;
// whole tensors; strings.
#include "core/numbers/convert.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/numbers/formats.h"
#include "core/numbers/text.h"

namespace touchstone {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// Every 97th float, and the five floats around every midpoint between neighbors of a 16-bit format.
template <class F>
void each_telling_float(Type type, F check) {
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 97) {
    check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (std::uint32_t code = 0; code < 0x7FFF; ++code) {
    const long double low = decode(type, code), high = decode(type, code + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    for (std::uint32_t off = 0; off < 5; ++off)
      check(std::bit_cast<float>(bits_of(middle) + off - 2));
  }
}

TEST(FastConversions, ToFloat16) {
  Index wrong = 0;
  each_telling_float(Type::float16,
                     [&](float x) { wrong += to_float16(x).code != encode(Type::float16, x); });
  EXPECT_EQ(wrong, 0);
}

TEST(FastConversions, ToBFloat16) {
  Index wrong = 0;
  each_telling_float(Type::bfloat16,
                     [&](float x) { wrong += to_bfloat16(x).code != encode(Type::bfloat16, x); });
  EXPECT_EQ(wrong, 0);
}

// Float and double: special values and doubles between two floats.
TEST(FastConversions, FloatAndDouble) {
  std::vector<double> numbers{0.0,
                              -0.0,
                              1e300,
                              -1e300,
                              1e-300,
                              1e-45,
                              7e-46,
                              0x1.fffffefp127,
                              0x1.ffffffp127,
                              1 + 0x1p-24,
                              1 + 0x1.8p-23,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::bit_cast<double>(~0ULL),
                              std::bit_cast<double>(0x7ff4000000000001ULL)};
  for (int k = 0; k < 1000; ++k) numbers.push_back(std::ldexp(std::sqrt(k + 2.0), k % 280 - 150));
  Tensor wide(Type::float64, {static_cast<Index>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), wide.data<double>());
  Tensor narrow(Type::float32, wide.shape()), again(Type::float64, wide.shape());
  convert(wide, narrow, Saturate::no, Rounding::nearest_even);
  narrow.data<float>()[0] = std::bit_cast<float>(0xffa00001U);  // a NaN with a payload
  convert(narrow, again, Saturate::no, Rounding::nearest_even);
  for (Index k = 0; k < wide.size(); ++k) {
    if (k > 0) {
      EXPECT_EQ(code_at(narrow, k), encode(Type::float32, numbers[k])) << numbers[k];
    }
    EXPECT_EQ(code_at(again, k), encode(Type::float64, narrow.data<float>()[k])) << numbers[k];
  }
}

template <class T>
void every_code_is_exact() {
  for (std::uint32_t code = 0; code < (1U << facts(type_of<T>).bits); ++code) {
    const T stored{static_cast<decltype(T::code)>(code)};
    const long double exact = to_number(stored);
    const float fast = to_float(stored);
    ASSERT_TRUE(std::isnan(exact) ? std::isnan(fast)
                                  : fast == exact && std::signbit(fast) == std::signbit(exact))
        << name(type_of<T>) << " code " << code;
    if (std::isnan(exact)) continue;
    ASSERT_EQ(from_number<T>(exact).code, code) << name(type_of<T>);
  }
}

TEST(FastConversions, EveryCodeToFloatAndBack) {
  for (int code = 1; code <= 28; ++code) {
    with_element(static_cast<Type>(code), []<class T>() {
      if constexpr (is_stored<T>) every_code_is_exact<T>();
    });
  }
}

TEST(Formats, OneStepBeyondTheLargestOverflows) {
  for (const Type type :
       {Type::float16, Type::bfloat16, Type::float8e4m3fn, Type::float8e4m3fnuz, Type::float8e5m2,
        Type::float8e5m2fnuz, Type::float4e2m1, Type::float6e2m3, Type::float6e3m2}) {
    const Format& format = format_of(type);
    const long double past =
        format.largest * (1 + 2 * static_cast<long double>(format.unit_roundoff()));
    const long double result = decode(type, encode(type, past));
    switch (format.overflow) {
      case Overflow::infinity:
        EXPECT_TRUE(std::isinf(result)) << name(type);
        break;
      case Overflow::nan:
        EXPECT_TRUE(std::isnan(result)) << name(type);
        break;
      case Overflow::largest:
        EXPECT_EQ(result, format.largest) << name(type);
        break;
    }
    EXPECT_EQ(decode(type, encode(type, past, Saturate::yes)), format.largest);
    EXPECT_EQ(decode(type, format.largest_code()), format.largest);
    EXPECT_EQ(decode(type, 1), format.smallest_subnormal);
  }
  EXPECT_THROW(format_of(Type::int8), Error);
  EXPECT_EQ(greatest_integer(Type::uint64), 18446744073709551615.0L);
  EXPECT_EQ(least_integer(Type::int4), -8);
}

TEST(Convert, EveryPairOfRealTypesAgreesWithOneByOne) {
  for (int a = 1; a <= 28; ++a) {
    for (int b = 1; b <= 28; ++b) {
      const TypeFacts &from_facts = facts(static_cast<Type>(a)),
                      &to_facts = facts(static_cast<Type>(b));
      if (from_facts.bits == 0 || to_facts.bits == 0 || from_facts.is_complex ||
          to_facts.is_complex)
        continue;
      Tensor from(from_facts.type, {601}), to(to_facts.type, {601});
      for (Index k = 0; k < from.size(); ++k) set_number(from, k, (k - 300) * 0.75L);
      convert(from, to, cast_saturation(to.type(), true));
      for (Index k = 0; k < from.size(); ++k) {
        const std::uint64_t expected =
            a == b ? code_at(from, k)
                   : encode(to.type(), number_at(from, k), cast_saturation(to.type(), true));
        ASSERT_EQ(code_at(to, k), expected)
            << from_facts.name << " to " << to_facts.name << " at " << k;
      }
    }
  }
}

TEST(Convert, SaturationIsHeardForFloat8Only) {
  EXPECT_EQ(cast_saturation(Type::float8e8m0, true), Saturate::yes);
  EXPECT_EQ(cast_saturation(Type::float8e5m2, false), Saturate::no);
  EXPECT_EQ(cast_saturation(Type::int8, true), Saturate::no);
  EXPECT_EQ(cast_saturation(Type::float16, true), Saturate::no);
}

TEST(Text, IsPlainAndShortest) {
  EXPECT_EQ(number_text(Type::float32, 0.1F), "0.1");
  EXPECT_EQ(number_text(Type::float64, 0.1F), "0.10000000149011612");
  EXPECT_EQ(number_text(Type::float16, decode(Type::float16, 0x2E66)), "0.1");
  EXPECT_EQ(number_text(Type::float32, 314.15926F), "314.15927");
  EXPECT_EQ(number_text(Type::float32, 123), "123.0");
  EXPECT_EQ(number_text(Type::float32, 1e20F), "100000000000000000000.0");
  EXPECT_EQ(number_text(Type::float64, -1e-7), "-0.0000001");
  EXPECT_EQ(number_text(Type::float32, -0.0F), "-0.0");
  EXPECT_EQ(number_text(Type::float32, NAN), "nan");
  EXPECT_EQ(number_text(Type::float32, -INFINITY), "-inf");
  EXPECT_EQ(number_text(Type::int64, -9223372036854775807.0L - 1), "-9223372036854775808");
  EXPECT_EQ(number_text(Type::uint64, 18446744073709551615.0L), "18446744073709551615");
  EXPECT_EQ(number_text(Type::boolean, 1), "True");
}

TEST(Text, IsReadAsTheStandardSays) {
  EXPECT_EQ(parse_number(Type::float32, "3.14"), 3.14F);
  EXPECT_EQ(parse_number(Type::float64, "1e-5"), 1e-5);
  EXPECT_EQ(parse_number(Type::float32, " +1E8 "), 1e8F);
  EXPECT_EQ(parse_number(Type::int64, "9223372036854775807"), 9223372036854775807.0L);
  EXPECT_EQ(parse_number(Type::float32, ".5"), 0.5F);
  for (const char* word : {"INF", "+INF", "inf", "+iNf"})
    EXPECT_EQ(parse_number(Type::float32, word), INFINITY);
  EXPECT_EQ(parse_number(Type::float16, "-INF"), -INFINITY);
  EXPECT_TRUE(std::isnan(parse_number(Type::float32, "NaN")));
  EXPECT_EQ(encode(Type::float32, parse_number(Type::float32, "1e39")), 0x7F800000U);
  EXPECT_EQ(parse_number(Type::float64, "-1e9999"), -INFINITY);
  EXPECT_EQ(parse_number(Type::float64, "1e-9999"), 0);
  EXPECT_EQ(parse_number(Type::boolean, "True"), 1);
}

TEST(Text, NonsenseIsRefused) {
  for (const char* nonsense : {"", " ", "Hello World!", "1.5x", "--1", "+-1", "1e", "0x10",
                               "nan(1)", "true", "1 2", "."}) {
    try {
      parse_number(Type::float32, nonsense);
      ADD_FAILURE() << nonsense;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::invalid_input);
    }
  }
}

RC_GTEST_PROP(Text, ComesBack, (std::uint32_t bits)) {
  for (const Type type : {Type::float32, Type::float16, Type::bfloat16, Type::float8e5m2,
                          Type::int32, Type::uint16}) {
    const long double value = decode(type, bits);
    if (std::isnan(value)) continue;
    const long double back = parse_number(type, number_text(type, value));
    RC_ASSERT(encode(type, back) == encode(type, value));
  }
}

TEST(Convert, StringsThereAndBack) {
  Tensor numbers(Type::float16, {3}), texts(Type::string, {3}), back(Type::float16, {3});
  set_number(numbers, 0, 2.5), set_number(numbers, 1, -INFINITY), set_number(numbers, 2, 1e-7L);
  convert(numbers, texts);
  EXPECT_EQ(texts.data<std::string>()[0], "2.5");
  convert(texts, back);
  for (Index k = 0; k < 3; ++k) EXPECT_EQ(code_at(back, k), code_at(numbers, k));
  Tensor copied(Type::string, {3});
  convert(texts, copied);
  EXPECT_EQ(copied.data<std::string>()[1], "-inf");
}

}  // namespace
}  // namespace touchstone
