// Compares the primitives of Bounded with 237-bit results, and with faithful floats whose arguments
// carry an error.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "core/property_testing.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"

namespace touchstone {
namespace {

template <class S>
using Unary = S (*)(const S&);

struct Row {
  const char* name;
  Unary<Bounded> bounded;
  Unary<Exact> exact;
  float (*faithful)(float);
  double least, most;
};

float sigmoid_float(float x) { return 1 / (1 + std::exp(-x)); }
float softplus_float(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::abs(x))); }

const Row rows[] = {
    {"exp", prim::exp, prim::exp, std::exp, -80, 80},
    {"log", prim::log, prim::log, std::log, 1e-6, 1e6},
    {"sqrt", prim::sqrt, prim::sqrt, std::sqrt, 0, 1e6},
    {"tanh", prim::tanh, prim::tanh, std::tanh, -12, 12},
    {"sigmoid", prim::sigmoid, prim::sigmoid, sigmoid_float, -80, 80},
    {"softplus", prim::softplus, prim::softplus, softplus_float, -80, 80},
    {"erf", prim::erf, prim::erf, std::erf, -5, 5},
    {"sin", prim::sin, prim::sin, std::sin, -100, 100},
    {"cos", prim::cos, prim::cos, std::cos, -100, 100},
    {"tan", prim::tan, prim::tan, std::tan, -100, 100},
    {"asin", prim::asin, prim::asin, std::asin, -1, 1},
    {"acos", prim::acos, prim::acos, std::acos, -1, 1},
    {"atan", prim::atan, prim::atan, std::atan, -100, 100},
    {"sinh", prim::sinh, prim::sinh, std::sinh, -40, 40},
    {"cosh", prim::cosh, prim::cosh, std::cosh, -40, 40},
    {"asinh", prim::asinh, prim::asinh, std::asinh, -1e6, 1e6},
    {"acosh", prim::acosh, prim::acosh, std::acosh, 1, 1e6},
    {"atanh", prim::atanh, prim::atanh, std::atanh, -1, 1},
    {"reciprocal", prim::reciprocal, prim::reciprocal, [](float x) { return 1 / x; }, -100, 100},
};

// |actual - exact| as a double.
double error(const Bounded& b, double actual) { return std::abs((actual - b.hi) - b.lo); }

bool inside(const Bounded& b, double actual) {
  if (b.e == INFINITY || (std::isnan(actual) && std::isnan(b.hi)) || actual == b.hi) return true;
  if (std::isnan(actual)) return (b.specials() & special::nan) != 0;
  if (std::isinf(actual))
    return (b.specials() & (actual > 0 ? special::infinity : special::minus_infinity)) != 0;
  return error(b, actual) <= b.e;
}

// Shares of the way from a row's least argument to its most.
rc::Gen<std::vector<double>> shares(int most) {
  return testing::up_to(most, testing::real_from_to(0, 1));
}
double argument_of(const Row& row, double share) {
  return row.least + (row.most - row.least) * share;
}

RC_GTEST_PROP(Primitives, ValuesAgreeWith237Bits, ()) {
  const Type type = *rc::gen::element(Type::float32, Type::float64);
  const BoundedScope scope(type, Class::strict);
  for (const double share : *shares(2)) {
    for (const Row& row : rows) {
      const double x = static_cast<float>(argument_of(row, share));
      RC_LOG() << row.name << "(" << x << ")\n";
      const Bounded b = row.bounded(Bounded::of(x));
      const Exact e = row.exact(Exact(x));
      if (!std::isfinite(e.hi())) continue;
      RC_ASSERT(std::abs((b.hi - e.hi()) + (b.lo - e.lo())) <=
                std::abs(e.hi()) * 0x1p-98 + 0x1p-1073);
    }
  }
}

RC_GTEST_PROP(Primitives, FaithfulFloatsAreInside, ()) {
  const BoundedScope scope(Type::float32, Class::strict);
  for (const double share : *shares(60)) {
    for (const Row& row : rows) {
      const auto x = static_cast<float>(argument_of(row, share));
      const Bounded b = row.bounded(Bounded::of(x));
      RC_LOG() << row.name << "(" << x << ")\n";
      RC_ASSERT(inside(b, row.faithful(x)));
      RC_ASSERT(b.e != INFINITY || !std::isfinite(row.faithful(x)));
    }
  }
}

RC_GTEST_PROP(Primitives, FaithfulFloatsOfArgumentsWithAnErrorAreInside, ()) {
  using testing::real_from_to;
  const BoundedScope scope(Type::float32, Class::strict);
  // Shares, negative exponents of the relative error, and places within the interval.
  const auto one = rc::gen::tuple(real_from_to(0, 1), testing::from_to(0, 25), real_from_to(-1, 1));
  for (const auto& [share, exponent, place] : *testing::up_to(60, one)) {
    for (const Row& row : rows) {
      const double v = argument_of(row, share), e = std::ldexp(std::abs(v), -exponent);
      const auto x = static_cast<float>(v + e * place);
      if (std::abs(x - v) > e) continue;
      RC_LOG() << row.name << "(" << v << " +- " << e << ") at " << x << "\n";
      RC_ASSERT(inside(row.bounded(Bounded::raw(v, 0, e)), row.faithful(x)));
    }
  }
}

TEST(Primitives, EveryIntervalEndIsInsideAndBoundsAreNotVacuous) {
  const BoundedScope scope(Type::float64, Class::strict);
  std::mt19937 random(4);
  for (const Row& row : rows) {
    std::uniform_real_distribution<double> draw(row.least, row.most);
    double tightest = 0;
    for (int k = 0; k < 500; ++k) {
      const double v = draw(random), e = std::abs(v) * 0x1p-12;
      const Bounded b = row.bounded(Bounded::raw(v, 0, e));
      for (const double x : {v - e, v + e}) {
        const Exact end = row.exact(Exact(x));
        if (is_nan(end) || b.e == INFINITY) continue;
        const double moved = std::abs((end.hi() - b.hi) + (end.lo() - b.lo));
        EXPECT_LE(moved, b.e) << row.name << "(" << x << ")";
        tightest = std::max(tightest, moved / b.e);
      }
    }
    EXPECT_GT(tightest, 0.9) << row.name;  // the bound is nearly attained somewhere
  }
}

TEST(Primitives, PowOverABox) {
  const BoundedScope scope(Type::float32, Class::strict);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> base(-4, 8), power(-6, 6), unit(-1, 1);
  int judged = 0;
  for (int k = 0; k < 20000; ++k) {
    const double a = base(random), p = k % 2 ? power(random) : std::round(power(random));
    const double ea = random() % 3 ? std::abs(a) * 0x1p-8 : 0,
                 ep = k % 2 ? std::abs(p) * 0x1p-10 : 0;
    const double x = a + ea * unit(random), y = p + ep * unit(random);
    const Bounded b = prim::pow(Bounded::raw(a, 0, ea), Bounded::raw(p, 0, ep));
    const double exact = std::pow(x, y);
    EXPECT_TRUE(inside(b, exact)) << x << "^" << y << " of " << a << "+-" << ea << ", " << p << "+-"
                                  << ep;
    judged += std::isfinite(exact) && b.e < std::abs(exact);
  }
  EXPECT_GT(judged, 8000);
}

RC_GTEST_PROP(Primitives, FmodOverABox, ()) {
  using testing::real_from_to;
  const BoundedScope scope(Type::float32, Class::strict);
  const auto one = rc::gen::tuple(real_from_to(-50, 50), real_from_to(-50, 50), real_from_to(-1, 1),
                                  real_from_to(-1, 1));
  for (const auto& [a, b, at_a, at_b] : *testing::up_to(400, one)) {
    const double ea = std::abs(a) * 0x1p-10, eb = std::abs(b) * 0x1p-10;
    const Bounded r = prim::fmod(Bounded::raw(a, 0, ea), Bounded::raw(b, 0, eb));
    RC_ASSERT(inside(r, std::fmod(a + ea * at_a, b + eb * at_b)));
  }
}

TEST(Primitives, SpecialsFollowIeee) {
  const BoundedScope scope(Type::float32, Class::strict);
  const double specials[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0};
  for (const Row& row : rows) {
    for (const double x : specials) {
      const auto faithful = static_cast<double>(row.faithful(static_cast<float>(x)));
      const Bounded b = row.bounded(Bounded::of(x));
      const Exact e = row.exact(Exact(x));
      if (std::isfinite(faithful)) {
        EXPECT_TRUE(inside(b, faithful)) << row.name << "(" << x << ")";
      } else {
        EXPECT_TRUE(b.e == 0 && (b.hi == faithful || (std::isnan(faithful) && std::isnan(b.hi))))
            << row.name << "(" << x << ")";
        if (row.faithful != rows[18].faithful || x != 0) {
          EXPECT_TRUE(e.hi() == faithful || (std::isnan(faithful) && is_nan(e)))
              << row.name << "(" << x << ") exact";
        }
      }
    }
  }
}

// The range of tanh bounds tanh of any number, but not of NaN: 0 * tanh(anything) may be NaN.
TEST(Primitives, AFunctionOfAnythingMayBeNan) {
  for (const Type type : {Type::float32, Type::float64}) {
    const BoundedScope scope(type, Class::strict);
    for (const Row& row : rows) {
      for (const double x : std::vector<double>{0.5, 2.0, -2.0, INFINITY, -INFINITY}) {
        const Bounded b = row.bounded(Bounded::anything(x));
        EXPECT_TRUE(inside(b, NAN)) << row.name << "(" << x << ")";
        EXPECT_TRUE(inside(Bounded::of(0) * b, NAN)) << row.name << "(" << x << ")";
      }
    }
  }
}

// Every library has this property: floor(log(1)) is 0, not possibly -1.
TEST(Primitives, TheLogarithmOfOneAndThePowerOfNothingAreExact) {
  const BoundedScope scope(Type::float32, Class::fast);
  EXPECT_EQ(prim::log(Bounded(Index{1})).e, 0);
  EXPECT_EQ(prim::log(Bounded(Index{1})).hi, 0);
  EXPECT_EQ(prim::pow(Bounded(Index{10}), Bounded(Index{0})).e, 0);
  EXPECT_EQ(prim::pow(Bounded(Index{10}), Bounded(Index{0})).hi, 1);
  EXPECT_GT(prim::log(Bounded(Index{2})).e, 0);
  EXPECT_GT(prim::pow(Bounded(Index{10}), Bounded::raw(0, 0, 1e-9)).e, 0);
}

}  // namespace
}  // namespace touchstone
