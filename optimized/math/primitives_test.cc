// Tests the accuracy of the Halide primitives. Those computed in double are faithful: the result is
// one of the two floats around the true value, and special values follow IEEE and C. Those computed
// in float stay within the judge's class strict, with the same bits on every instruction set if FMA
// is off. With FMA they stay within class strict too.
#include "optimized/math/primitives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/primitives_table.h"

namespace touchstone::optimized::generators {
namespace {

constexpr int count = 20000;
using Wide = long double;

struct Arguments {
  Halide::Buffer<float> x{count}, y{count};
  Arguments() {
    std::mt19937_64 random(5);
    for (int k = 0; k < count; ++k) x(k) = draw(random), y(k) = draw(random);
  }
  static float draw(std::mt19937_64& random) {
    static constexpr float inf = std::numeric_limits<float>::infinity();
    static constexpr float special[] = {
        0.0F,     -0.0F, inf,    -inf,    std::numeric_limits<float>::quiet_NaN(),
        1,        -1,    1e-40F, -1e-45F, 3.4e38F,
        -3.4e38F, 88.7F, 89,     -103,    -104,
        0.5F,     2,     3,      -3,      0.46875F};
    switch (random() % 4) {
      case 0: {
        const auto bits = static_cast<std::uint32_t>(random());
        float f;
        std::memcpy(&f, &bits, sizeof f);
        return f;
      }
      case 1:
        return special[random() % std::size(special)];
      case 2:
        return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 100;
      default:
        return std::normal_distribution<float>()(random);
    }
  }
};

bool faithful(float got, Wide wanted) {
  if (std::isnan(wanted)) return std::isnan(got);
  const float nearest = static_cast<float>(wanted);
  if (got == nearest) return nearest != 0 || std::signbit(got) == std::signbit(nearest);
  const float other = std::nextafter(nearest, wanted > static_cast<Wide>(nearest)
                                                  ? std::numeric_limits<float>::infinity()
                                                  : -std::numeric_limits<float>::infinity());
  return got == other && !std::isinf(nearest);
}

void hold(const char* name, Halide::Expr (*primitive)(const Halide::Expr&, const Halide::Expr&),
          Wide (*truth)(Wide, Wide)) {
  static Arguments with;
  const Halide::Var k("k");
  Halide::Func f;
  f(k) = primitive(with.x(k), with.y(k));
  f.vectorize(k, 8);
  const Halide::Buffer<float> got =
      f.realize({count}, Halide::get_host_target().with_feature(Halide::Target::StrictFloat));
  for (int n = 0; n < count; ++n) {
    const Wide wanted = truth(with.x(n), with.y(n));
    ASSERT_TRUE(faithful(got(n), wanted)) << name << " of " << with.x(n) << ", " << with.y(n)
                                          << " is " << got(n) << ", not " << wanted;
  }
}

// Sample of all float32 values: every 4099th bit pattern.
constexpr std::uint32_t apart = 4099;
constexpr int many = static_cast<int>((std::uint64_t{1} << 32) / apart);

float nth(std::uint32_t n) {
  const std::uint32_t code = n * apart;
  float f;
  std::memcpy(&f, &code, sizeof f);
  return f;
}

// True if the error is at most k times 2u of the true value, plus half of the smallest subnormal.
bool within(float got, Wide wanted, double k) {
  if (std::isnan(wanted)) return std::isnan(got);
  const float nearest = static_cast<float>(wanted);
  if (got == nearest) return nearest != 0 || std::signbit(got) == std::signbit(wanted);
  if (std::isinf(got) || std::isinf(nearest)) return false;
  return std::fabs(static_cast<Wide>(got) - wanted) <= k * 0x1p-23L * std::fabs(wanted) + 0x1p-150L;
}

void keep(std::string_view name, Halide::Expr (*primitive)(const Halide::Expr&),
          Wide (*truth)(Wide)) {
  const PrimitiveFacts* const facts =
      std::find_if(std::begin(primitive_table), std::end(primitive_table),
                   [&](const PrimitiveFacts& row) { return row.name == name; });
  ASSERT_NE(facts, std::end(primitive_table));
  static Arguments with;
  static Halide::Buffer<float> in = [] {
    Halide::Buffer<float> all(many + count);
    for (int k = 0; k < many; ++k) all(k) = nth(static_cast<std::uint32_t>(k));
    for (int k = 0; k < count; ++k) all(many + k) = with.x(k);
    return all;
  }();
  std::vector<Halide::Buffer<float>> by_isa;
  using Target = Halide::Target;
  const Target host = Halide::get_host_target();
  const Target plain(host.os, host.arch, host.bits, {Target::SSE41, Target::StrictFloat});
  const Target avx2 =
      plain.with_feature(Target::AVX).with_feature(Target::AVX2).with_feature(Target::FMA);
  const Target avx512 = avx2.with_feature(Target::F16C)
                            .with_feature(Target::AVX512)
                            .with_feature(Target::AVX512_Skylake);
  for (const auto& [target, lanes] : {std::pair(plain, 4), {avx2, 8}, {avx512, 16}}) {
    if (lanes > 4 && !host.has_feature(lanes == 8 ? Target::AVX2 : Target::AVX512_Skylake))
      continue;
    const Halide::Var k("k");
    Halide::Func f;
    f(k) = primitive(in(k));
    f.vectorize(k, lanes);
    by_isa.push_back(f.realize({in.width()}, target));
    const Halide::Buffer<float> joined =
        f.realize({in.width()}, target.without_feature(Target::StrictFloat));
    for (int n = 0; n < in.width(); ++n)
      ASSERT_TRUE(within(joined(n), truth(in(n)), facts->strict))
          << name << " of " << in(n) << " is " << joined(n) << ", not " << truth(in(n)) << ", in "
          << lanes << " lanes";
  }
  for (int k = 0; k < in.width(); ++k) {
    const float got = by_isa[0](k);
    ASSERT_TRUE(within(got, truth(in(k)), facts->strict))
        << name << " of " << in(k) << " is " << got << ", not " << truth(in(k));
    for (const Halide::Buffer<float>& other : by_isa)
      ASSERT_TRUE(std::memcmp(&other(k), &got, sizeof got) == 0 || std::isnan(got))
          << name << " of " << in(k) << " is " << got << " or " << other(k);
  }
}

#define KEEPS(name, truth)                                        \
  keep(                                                           \
      #name, [](const Halide::Expr& x) { return prim::name(x); }, \
      [](Wide x) -> Wide { return truth; })

TEST(FastPrimitives, InFloatKeepToClassStrict) {
  KEEPS(exp, expl(x));
  KEEPS(log, logl(x));
  KEEPS(tanh, tanhl(x));
  KEEPS(erf, erfl(x));
  KEEPS(sigmoid, 1 / (1 + expl(-x)));
  KEEPS(softplus, std::isnan(x) ? x : fmaxl(x, 0) + log1pl(expl(-fabsl(x))));
}

#define HOLDS(name, truth)                                                             \
  hold(                                                                                \
      #name, [](const Halide::Expr& x, const Halide::Expr&) { return prim::name(x); }, \
      [](Wide x, Wide) -> Wide { return truth; })

TEST(FastPrimitives, AreFaithful) {
  HOLDS(sinh, sinhl(x));
  HOLDS(cosh, coshl(x));
  HOLDS(asinh, asinhl(x));
  HOLDS(acosh, acoshl(x));
  HOLDS(atanh, atanhl(x));
  HOLDS(sqrt, sqrtl(x));
  HOLDS(reciprocal, 1 / x);
  HOLDS(floor, floorl(x));
  HOLDS(ceil, ceill(x));
  HOLDS(round_even, rintl(x));
  HOLDS(abs, fabsl(x));
  HOLDS(sign, std::isnan(x) ? x : Wide((x > 0) - (x < 0)));
  hold("pow", prim::pow, [](Wide x, Wide y) -> Wide { return powl(x, y); });
  hold(
      "pow", [](const Halide::Expr& x, const Halide::Expr&) { return prim::pow(x, 2.0F); },
      [](Wide x, Wide) -> Wide { return x * x; });
  hold("maximum", prim::maximum,
       [](Wide x, Wide y) -> Wide { return std::isnan(x) || y < x ? x : y; });
  hold("minimum", prim::minimum,
       [](Wide x, Wide y) -> Wide { return std::isnan(x) || x < y ? x : y; });
}

}  // namespace
}  // namespace touchstone::optimized::generators
