// Each primitive is faithful: its result is one of the two floats around the true value, and what
// IEEE and C say of special values.
#include "optimized/math/primitives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace touchstone::generators {
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

#define HOLDS(name, truth)                                                             \
  hold(                                                                                \
      #name, [](const Halide::Expr& x, const Halide::Expr&) { return prim::name(x); }, \
      [](Wide x, Wide) -> Wide { return truth; })

TEST(FastPrimitives, AreFaithful) {
  HOLDS(exp, expl(x));
  HOLDS(log, logl(x));
  HOLDS(tanh, tanhl(x));
  HOLDS(sinh, sinhl(x));
  HOLDS(cosh, coshl(x));
  HOLDS(asinh, asinhl(x));
  HOLDS(acosh, acoshl(x));
  HOLDS(atanh, atanhl(x));
  HOLDS(erf, erfl(x));
  HOLDS(sigmoid, 1 / (1 + expl(-x)));
  HOLDS(softplus, std::isnan(x) ? x : fmaxl(x, 0) + log1pl(expl(-fabsl(x))));
  HOLDS(sqrt, sqrtl(x));
  HOLDS(reciprocal, 1 / x);
  HOLDS(floor, floorl(x));
  HOLDS(ceil, ceill(x));
  HOLDS(round_even, rintl(x));
  HOLDS(abs, fabsl(x));
  HOLDS(sign, std::isnan(x) ? x : Wide((x > 0) - (x < 0)));
  hold("pow", prim::pow, [](Wide x, Wide y) -> Wide { return powl(x, y); });
  hold("maximum", prim::maximum,
       [](Wide x, Wide y) -> Wide { return std::isnan(x) || y < x ? x : y; });
  hold("minimum", prim::minimum,
       [](Wide x, Wide y) -> Wide { return std::isnan(x) || x < y ? x : y; });
}

}  // namespace
}  // namespace touchstone::generators
