// Sums and products in any order: faithful ones are inside the bound, exact data has none, injected
// faults are outside.
#include "reference/semantics/bounded_sums.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/property_testing.h"
#include "reference/semantics/exact.h"
#include "reference/semantics/independent.h"

namespace touchstone {
namespace {

bool inside(const Bounded& b, double actual) { return std::abs((actual - b.hi) - b.lo) <= b.e; }

Bounded bounded_sum(const std::vector<float>& terms) {
  Sum<Bounded> sum;
  for (const float x : terms) sum.add(Bounded::of(x));
  return sum.get();
}

float pairwise(const float* x, std::size_t n) {
  return n == 1 ? x[0] : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

// Lists of terms, each a mantissa times a power of two.
using Terms = std::vector<std::pair<double, int>>;

RC_GTEST_PROP(Sum, AnyOrderIsInside, ()) {
  const BoundedScope scope(Type::float32, Class::strict);
  const auto term = rc::gen::pair(testing::real_from_to(-4, 4), testing::from_to(-15, 14));
  for (const Terms& drawn : *testing::up_to(20, testing::up_to(300, term))) {
    if (drawn.empty()) continue;
    std::vector<float> terms;
    for (const auto& [mantissa, exponent] : drawn)
      terms.push_back(static_cast<float>(std::ldexp(mantissa, exponent)));
    const Bounded b = bounded_sum(terms);
    Exact exact;
    for (const float x : terms) exact += Exact(static_cast<double>(x));
    RC_ASSERT(std::abs((exact.hi() - b.hi) + (exact.lo() - b.lo)) <=
              std::abs(b.hi) * 0x1p-90 + b.e * 0x1p-40);
    RC_ASSERT(inside(b, std::accumulate(terms.begin(), terms.end(), 0.0F)));
    RC_ASSERT(inside(b, std::accumulate(terms.rbegin(), terms.rend(), 0.0F)));
    RC_ASSERT(inside(b, pairwise(terms.data(), terms.size())));
    std::sort(terms.begin(), terms.end());
    RC_ASSERT(inside(b, std::accumulate(terms.begin(), terms.end(), 0.0F)));
  }
}

TEST(Sum, ExactDataHasBoundZero) {
  const BoundedScope scope(Type::float32, Class::strict);
  EXPECT_EQ(bounded_sum({1, 2, 3, -6.5, 1e6, 0.25}).e, 0);
  EXPECT_EQ(bounded_sum({0.1F}).e, 0);
  EXPECT_EQ(bounded_sum({0.1F, 0, 0}).e, 0);  // padding rounds nothing
  EXPECT_EQ(bounded_sum({0.1F, 0.1F}).e, 0);  // nor does doubling
  EXPECT_GT(bounded_sum({0.1F, 0.2F, 0.3F}).e, 0);
  EXPECT_GT(bounded_sum({0x1p24F, 1, 1}).e, 0);  // (2^24 + 1) + 1 is not 2^24 + (1 + 1)
  EXPECT_EQ(bounded_sum({0x1p23F, 1, 1}).e, 0);
  EXPECT_EQ(bounded_sum({}).e, 0);
}

TEST(Sum, TheWorstCaseIsARoundingAnAddition) {
  const BoundedScope scope(Type::float32, Class::strict);
  const std::vector<float> terms{0.1F, -0.2F, 0.3F, 0.4F};
  double sizes = 0;  // 1, except for the roundings of four decimals to float
  for (const float term : terms) sizes += std::abs(term);
  const double worst = 3 * 0x1p-24 * sizes;
  EXPECT_GE(bounded_sum(terms).e, worst);
  EXPECT_LE(bounded_sum(terms).e, worst * (1 + 0x1p-23));  // second order: (1 + u)^3 - 1 - 3 u
}

// A term whose error is too large for the fast path takes the slow path, once.
TEST(Sum, AnEnormousErrorIsATermLikeOthers) {
  const BoundedScope scope(Type::float32, Class::strict);
  for (const double e : {0x1p950, std::numeric_limits<double>::quiet_NaN()}) {
    Sum<Bounded> sum;
    sum.add(Bounded::raw(1, 0, e));
    sum.add(Bounded::raw(2, 0, 0));
    EXPECT_EQ(sum.get().hi, 3);
    EXPECT_FALSE(sum.get().e < 0x1p950);
  }
}

// Root-mean-square errors of float sums in several orders: a fraction of the aggregate bound, and
// not a small one. The worst case is hundreds of times as large.
TEST(Sum, AggregateIsAFewTimesWhatFaithfulSumsLose) {
  std::mt19937 random(2);
  for (const float mean : {0.0F, 1.0F, 100.0F}) {
    SCOPED_TRACE(mean);
    std::normal_distribution<float> normal(mean);
    std::vector<float> terms(3000);
    double forward = 0, backward = 0, shuffled = 0;
    const int rounds = 200;
    for (int round = 0; round < rounds; ++round) {
      for (float& x : terms) x = normal(random);
      const BoundedScope worst(Type::float32, Class::strict);
      const double widest = bounded_sum(terms).e;
      const BoundedScope rough(Type::float32, Class::strict, Sums::aggregate, false);
      const Bounded b = bounded_sum(terms);
      EXPECT_GT(widest / b.e, 20);
      const auto share = [&] {
        float sum = 0;
        for (const float x : terms) sum += x;
        const double error = (static_cast<double>(sum) - b.hi) / b.e;
        return error * error / rounds;
      };
      forward += share();
      std::reverse(terms.begin(), terms.end());
      backward += share();
      std::shuffle(terms.begin(), terms.end(), random);
      shuffled += share();
    }
    for (const double squared : {forward, backward, shuffled}) {
      EXPECT_LT(std::sqrt(squared), 0.5);
      EXPECT_GT(std::sqrt(squared), 0.05);
    }
  }
}

// Equal terms give equal errors while the sum stays in one binade.
TEST(Sum, AggregateHoldsSumsOfFewValues) {
  std::mt19937 random(4);
  std::vector<float> grid;
  for (int k = -16; k <= 16; ++k)
    grid.push_back(std::pow(0.25F * static_cast<float>(k) - 0.1F, 2.0F));
  for (const std::vector<float>& values : {std::vector<float>{0.1F}, {0.1F, -0.3F}, grid}) {
    SCOPED_TRACE(values.size());
    for (const std::size_t count : {1024, 16384}) {
      std::vector<float> terms;
      for (std::size_t k = 0; k < count; ++k) terms.push_back(values[random() % values.size()]);
      const BoundedScope rough(Type::float32, Class::strict, Sums::aggregate, false);
      const Bounded b = bounded_sum(terms);
      float sum = 0;
      for (const float x : terms) sum += x;
      EXPECT_LT(std::abs(static_cast<double>(sum) - b.hi) / b.e, 0.7) << count;
    }
  }
}

// The squares of such terms are subnormal doubles, or zero.
TEST(Sum, AggregateHoldsSumsOfTinyTerms) {
  const BoundedScope rough(Type::float64, Class::strict, Sums::aggregate, false);
  for (const double size : {0x1p-1000, 0x1p-537, 0x1p-520}) {
    const std::vector<double> terms{0.1 * size, 0.7 * size, -0.3 * size};
    Sum<Bounded> sum;
    Independent<Bounded> independent;
    for (const double x : terms) {
      sum.add(Bounded::of(x));
      independent.add(Bounded::raw(x, 0, 0x1p-53 * size));
    }
    EXPECT_GT(sum.get().e, 0x1p-53 * size) << size;
    EXPECT_GT(independent.get().e, 0x1p-52 * size) << size;
  }
}

TEST(Sum, InfinitiesAndNanFollowIeee) {
  const BoundedScope scope(Type::float32, Class::strict);
  EXPECT_EQ(bounded_sum({1, INFINITY, 2}).hi, INFINITY);
  EXPECT_EQ(bounded_sum({1, INFINITY, 2}).e, 0);
  EXPECT_TRUE(std::isnan(bounded_sum({INFINITY, 1, -INFINITY}).hi));
  EXPECT_TRUE(std::isnan(bounded_sum({NAN, 1}).hi));
}

TEST(Sum, ATermThatMayBeInfiniteInsteadOfNanMakesTheSumAnything) {
  const BoundedScope scope(Type::float32, Class::strict);
  for (const int other : {special::infinity, special::minus_infinity}) {
    Bounded term = Bounded::raw(NAN, 0, 0);
    term.add_specials(static_cast<std::uint8_t>(other));
    Sum<Bounded> sum;
    sum.add(Bounded::of(1));
    sum.add(term);
    EXPECT_EQ(sum.get().e, INFINITY);
  }
}

TEST(Sum, OverflowOnTheWayIsRightOfEitherSign) {
  const BoundedScope scope(Type::float32, Class::strict);
  const Bounded b = bounded_sum({3e38F, 3e38F, -3e38F, -3e38F});
  EXPECT_EQ(b.hi, 0);
  EXPECT_EQ(b.specials(), special::infinity | special::minus_infinity | special::nan);
  EXPECT_EQ(bounded_sum({3e38F, 3e38F}).specials(), special::infinity);
}

RC_GTEST_PROP(Prod, AnyOrderIsInside, ()) {
  const BoundedScope scope(Type::float32, Class::strict);
  const auto factors = testing::up_to(60, testing::real_from_to(0.5, 1.5));
  for (const std::vector<double>& drawn : *testing::up_to(40, factors)) {
    const std::vector<float> list(drawn.begin(), drawn.end());
    Prod<Bounded> prod;
    float forward = 1, backward = 1;
    for (const float x : list) prod.add(Bounded::of(x)), forward *= x;
    for (auto x = list.rbegin(); x != list.rend(); ++x) backward *= *x;
    RC_ASSERT(inside(prod.get(), forward));
    RC_ASSERT(inside(prod.get(), backward));
    RC_ASSERT(list.empty() || !inside(prod.get(), forward * 1.0001F));
  }
}

TEST(Prod, ExactDataHasBoundZero) {
  const BoundedScope scope(Type::float32, Class::strict);
  Prod<Bounded> whole;
  for (const double x : {2.0, 3.0, 5.0, -7.0, 0.5}) whole.add(Bounded::of(x));
  EXPECT_EQ(whole.get().hi, -105);
  EXPECT_EQ(whole.get().e, 0);
}

Bounded product(std::initializer_list<double> factors) {
  Prod<Bounded> p;
  for (const double x : factors) p.add(Bounded::of(x));
  return p.get();
}

// With large factors first the product overflows, with small ones first it underflows. Multiplying
// both halves gives infinity times zero.
TEST(Prod, WhereOrdersOverflowAndVanishAnythingIsRight) {
  const BoundedScope scope(Type::float32);
  EXPECT_EQ(product({1e30, 1e30, 1e-30, 1e-30}).e, std::numeric_limits<double>::infinity());
  const Bounded overflows = product({1e30, 1e30, 1e-10, 1e-10});
  EXPECT_LT(overflows.e, std::numeric_limits<double>::infinity());
  EXPECT_EQ(overflows.specials(), special::infinity | special::minus_infinity);
  const Bounded zero = product({1e30, 1e30, 0});
  EXPECT_EQ(zero.hi, 0);
  EXPECT_EQ(zero.specials(), special::infinity | special::minus_infinity | special::nan);
  EXPECT_EQ(product({0, 3e38}).e, 0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(product({infinity, 1e-30, 1e-30}).specials(), special::nan);
  EXPECT_TRUE(product({infinity, 1e-30, 1e30}).plain());
}

// Beside an infinity, doubles whose product underflows are zero in some orders: NaN.
TEST(Prod, AnInfinityIsNaNOnlyWhereOthersVanishFirst) {
  const BoundedScope scope(Type::float64);
  const double infinity = std::numeric_limits<double>::infinity();
  const Bounded vanishing = product({-1e-300, 1e-300, infinity, 2});
  EXPECT_EQ(vanishing.hi, -infinity);
  EXPECT_EQ(vanishing.specials(), special::nan);
  EXPECT_TRUE(std::isnan(product({0, infinity}).hi));
  EXPECT_TRUE(product({0, infinity}).plain());
  EXPECT_TRUE(std::isnan(product({std::nan(""), 1e-300, 1e-300, infinity}).hi));
}

TEST(MaxMin, CarryTheErrorOfThoseThatCanWin) {
  const BoundedScope scope(Type::float32, Class::strict);
  Max<Bounded> max;
  EXPECT_TRUE(max.empty());
  max.add(Bounded::raw(1, 0, 0.5));
  max.add(Bounded::raw(10, 0, 0.25));
  EXPECT_EQ(max.get().e, 0.25);
  max.add(Bounded::raw(9.5, 0, 0.5));
  EXPECT_EQ(max.get().e, 0.5);
  EXPECT_EQ(max.get().hi, 10);
  max.add(Bounded::of(NAN));
  EXPECT_TRUE(std::isnan(max.get().hi));
  Min<Bounded> min;
  min.add(Bounded::of(INFINITY));
  min.add(Bounded::of(3));
  EXPECT_EQ(min.get().hi, 3);
}

}  // namespace
}  // namespace touchstone
