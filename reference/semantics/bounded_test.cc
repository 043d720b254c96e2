// Arithmetic of Bounded: random faithful float programs stay inside, exact data keeps bound 0,
// specials follow IEEE.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "core/property_testing.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/exact.h"
#include "reference/semantics/extended.h"
#include "reference/semantics/opaque.h"

namespace touchstone {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool inside(const Bounded& b, double actual) {
  if (b.e == infinity || actual == b.hi || (std::isnan(actual) && std::isnan(b.hi))) return true;
  if (std::isnan(actual)) return (b.specials() & special::nan) != 0;
  if (std::isinf(actual))
    return (b.specials() & (actual > 0 ? special::infinity : special::minus_infinity)) != 0;
  return std::abs((actual - b.hi) - b.lo) <= b.e;
}

// An operation and its second operand: a float times a power of two.
using Step = std::tuple<int, double, int>;

// A number in a native type, in Bounded and in Exact.
template <class T>
struct Threefold {
  explicit Threefold(double x)
      : native(static_cast<T>(x)),
        bounded(Bounded::of(static_cast<double>(native))),
        exact(static_cast<double>(native)) {}

  void take(const Step& step) {
    const auto& [operation, mantissa, exponent] = step;
    const Threefold with(std::ldexp(mantissa, exponent));
    switch (operation) {
      case 0:
        apply(with, [](const auto& a, const auto& b) { return a + b; });
        break;
      case 1:
        apply(with, [](const auto& a, const auto& b) { return a - b; });
        break;
      case 2:
        apply(with, [](const auto& a, const auto& b) { return a * b; });
        break;
      case 3:
        apply(with, [](const auto& a, const auto& b) { return a / b; });
        break;
      case 4:
        native = std::max(native, with.native);
        bounded = prim::maximum(bounded, with.bounded);
        exact = prim::maximum(exact, with.exact);
        break;
      default:
        apply(with, [](const auto& a, const auto& b) { return b - a; });
        break;
    }
  }

  T native;
  Bounded bounded;
  Exact exact;

 private:
  template <class F>
  void apply(const Threefold& with, F operation) {
    native = operation(native, with.native);
    bounded = operation(bounded, with.bounded);
    exact = operation(exact, with.exact);
  }
};

// Runs programs of up to 12 operations.
template <class T>
void programs_stay_inside(Type type) {
  using testing::from_to;
  const BoundedScope scope(type, Class::strict);
  const auto step = rc::gen::tuple(from_to(0, 5), testing::real_from_to(-4, 4), from_to(-4, 4));
  for (const std::vector<Step>& program : *testing::up_to(200, testing::up_to(12, step))) {
    Threefold<T> number(1);
    for (const Step& each : program) {
      number.take(each);
      RC_ASSERT(inside(number.bounded, static_cast<double>(number.native)));
      const Bounded& b = number.bounded;
      if (!std::isfinite(b.hi)) break;
      const double apart = std::abs((number.exact.hi() - b.hi) + (number.exact.lo() - b.lo));
      RC_ASSERT(apart <= b.e * 0x1p-20 + std::abs(b.hi) * 0x1p-70);
    }
  }
}

RC_GTEST_PROP(Bounded, RandomProgramsOfFloatsStayInside, ()) {
  programs_stay_inside<float>(Type::float32);
}
RC_GTEST_PROP(Bounded, RandomProgramsOfDoublesStayInside, ()) {
  programs_stay_inside<double>(Type::float64);
}

template <class T>
std::vector<std::pair<T, T>> pairs_of_any_bits() {
  return *testing::up_to(2000, rc::gen::pair(testing::any_bits<T>(), testing::any_bits<T>()));
}

RC_GTEST_PROP(Bounded, WholeRangeOfFloatsStaysInside, ()) {
  const BoundedScope scope(Type::float32, Class::strict);
  for (const auto& [x, y] : pairs_of_any_bits<float>()) {
    const Bounded a = Bounded::of(x), b = Bounded::of(y);
    RC_ASSERT(inside(a + b, x + y));
    RC_ASSERT(inside(a * b, x * y));
    RC_ASSERT(inside(a / b, x / y));
    RC_ASSERT(inside(a * b - a, x * y - x));
  }
}

RC_GTEST_PROP(Bounded, WholeRangeOfDoublesStaysInside, ()) {
  const BoundedScope scope(Type::float64, Class::strict);
  for (const auto& [x, y] : pairs_of_any_bits<double>()) {
    const Bounded a = Bounded::of(x), b = Bounded::of(y);
    RC_ASSERT(inside(a + b, x + y));
    RC_ASSERT(inside(a * b, x * y));
    RC_ASSERT(inside(a / b, x / y));
    if (!std::isfinite(x * y)) continue;
    const Exact e = Exact(x) * Exact(y);
    const Bounded p = a * b;
    RC_ASSERT(std::abs((e.hi() - p.hi) + (e.lo() - p.lo)) <= p.e);
  }
}

TEST(Bounded, TheLargestNumberIsExact) {
  for (const Type type : {Type::float32, Type::float64}) {
    const BoundedScope scope(type, Class::strict);
    const double largest = semantics_context.largest;
    const Bounded most = Bounded::of(largest), least = Bounded::of(-largest);
    EXPECT_TRUE(most.plain() && least.plain());
    EXPECT_EQ(most.e, 0);
    EXPECT_TRUE(less(Bounded::of(1), most) == TriBool::yes);
    EXPECT_TRUE(less(most, Bounded::of(1)) == TriBool::no);
    EXPECT_TRUE(less(Bounded::of(1), least) == TriBool::no);
    EXPECT_TRUE(inside(most + most, infinity));  // results past it are not
    EXPECT_TRUE(inside(most * Bounded::of(2), infinity));
  }
}

TEST(Bounded, ExactDataHasBoundZero) {
  for (const Type type : {Type::float32, Type::float64}) {
    const BoundedScope scope(type, Class::strict);
    const Bounded a = Bounded::of(5), b = Bounded::of(2);
    for (const Bounded& x :
         {a + b, a - b, a * b, a / b, Bounded(Index{1} << 20), prim::sqrt(Bounded::of(49)), -a}) {
      EXPECT_EQ(x.e, 0);
      EXPECT_TRUE(x.plain());
    }
    EXPECT_GT((Bounded::of(1) / Bounded::of(3)).e, 0);
    EXPECT_GT(prim::sqrt(Bounded::of(2)).e, 0);
  }
  const BoundedScope scope(Type::float32, Class::strict);
  EXPECT_GT(Bounded((Index{1} << 24) + 1).e, 0);  // not a float
  EXPECT_GT(Bounded::of(0.1).e, 0);
  EXPECT_GT((Bounded::of(1) + Bounded::of(0x1p-24)).e, 0);
  EXPECT_GT((Bounded::of(0x1p-100) * Bounded::of(0x1p-60)).e, 0);  // below the smallest subnormal
}

// Checks that the bound covers the exact one and exceeds it only by its own roundings: the
// operation's half ulp at most, and some of double.
void expect_bound(double e, double exact) {
  EXPECT_GE(e, exact * (1 - 0x1p-50));
  EXPECT_LE(e, exact * (1 + 0x1p-22));
}

TEST(Bounded, OneRoundingIsHalfAnUlp) {
  const BoundedScope scope(Type::float32, Class::strict);
  for (const Bounded& x : {Bounded::of(1) + Bounded::of(0x1p-24),
                           Bounded::of(1 + 0x1p-12F) * Bounded::of(1 + 0x1p-12F)})
    expect_bound(x.e, 0x1p-24 * x.hi);
}

// The ends of both intervals are inside, and little else.
TEST(Bounded, ErrorsOfBothOperandsCount) {
  const BoundedScope scope(Type::float64, Class::strict);
  const Bounded x = Bounded::raw(1, 0, 0.1), y = Bounded::raw(2, 0, 0.2);
  expect_bound((x + y).e, 0.3);
  expect_bound((x - y).e, 0.3);
  expect_bound((x * y).e, 1.1 * 2.2 - 2);
  expect_bound((x / y).e, 1.1 / 1.8 - 0.5);
  EXPECT_EQ((x / Bounded::raw(0.1, 0, 0.2)).e, infinity);
  EXPECT_EQ((Bounded::of(infinity) * Bounded::raw(0.1, 0, 0.2)).e, infinity);
}

TEST(Bounded, AHullHoldsBothAndKeepsTheFirst) {
  Bounded x = Bounded::raw(1, 0, 0.25), y = Bounded::raw(2, 0, 0.5);
  y.add_specials(special::nan);
  const Bounded both = hull(x, y);
  EXPECT_EQ(both.hi, 1);
  expect_bound(both.e, 1.5);
  EXPECT_EQ(both.specials(), special::nan);
  EXPECT_EQ(hull(y, x).hi, 2);
}

TEST(Bounded, FastAllowsAReciprocalButNotOfPowersOfTwo) {
  const BoundedScope scope(Type::float32, Class::fast);
  EXPECT_GT((Bounded::of(7.5) / Bounded::of(3)).e, 0);
  EXPECT_EQ((Bounded::of(5) / Bounded::of(2)).e, 0);
}

TEST(Bounded, ClassReducedIsRefusedByName) {
  EXPECT_THROW(BoundedScope(Type::float32, Class::reduced), std::exception);
}

TEST(Bounded, ScopesNest) {
  const BoundedScope judge(Type::float32, Class::fast, Sums::aggregate, true);
  {
    const BoundedScope kernel(Type::float16);
    EXPECT_EQ(semantics_context.precision, 11);
    EXPECT_EQ(semantics_context.sum_precision, 24);
    EXPECT_EQ(semantics_context.sums, Sums::aggregate);
    EXPECT_TRUE(semantics_context.flush);
  }
  EXPECT_EQ(semantics_context.precision, 24);
}

TEST(Bounded, OverflowAllowsInfinityAndKeepsTheExactValue) {
  const BoundedScope scope(Type::float32, Class::strict);
  const Bounded huge = Bounded::of(3e38F) * Bounded::of(10);
  EXPECT_GT(huge.hi, 2e39);
  EXPECT_EQ(huge.specials(), special::infinity);
  // One faithful order gives infinity, the other does not: both stay valid.
  const Bounded back = huge / Bounded::of(100);
  EXPECT_TRUE(inside(back, 3e37F));
  EXPECT_TRUE(inside(back, infinity));
  EXPECT_FALSE(inside(back, -infinity));
  EXPECT_TRUE(inside(Bounded::of(1) / huge, 0.0));
  EXPECT_TRUE(inside(huge - huge, NAN));
  EXPECT_TRUE(inside(prim::exp(Bounded::of(1000)), infinity));
  EXPECT_EQ(prim::exp(-prim::exp(Bounded::of(1000))).hi, 0);
}

TEST(Bounded, AResultPastDoubleIsAnythingIfAnOperandIs) {
  const BoundedScope scope(Type::float32, Class::strict);
  const Bounded large = Bounded::raw(1e200, 0, 1e193), small = Bounded::raw(1e-200, 0, 0);
  const Bounded wide = Bounded::raw(1e200, 0, 2e200), edge = Bounded::raw(1.5e308, 0, 0);
  for (const Bounded& b : {wide * large, large * wide, wide / small,
                           Bounded::anything(1e308) + edge, edge + Bounded::anything(1e308)}) {
    for (const double x : {0.0, infinity, -infinity, static_cast<double>(NAN)})
      EXPECT_TRUE(inside(b, x)) << x;
  }
  for (const Bounded& b : {large * large, large / small, edge + edge}) {
    EXPECT_TRUE(inside(b, infinity));
    for (const double x : {0.0, -infinity, static_cast<double>(NAN)}) EXPECT_FALSE(inside(b, x));
  }
}

TEST(Bounded, FlushAllowsZeroForSubnormals) {
  const BoundedScope strict(Type::float32, Class::fast, Sums::worst, false);
  const Bounded x = Bounded::of(0x1p-100), y = Bounded::of(0x1p-40);
  EXPECT_FALSE(inside(x * y, 0));
  const BoundedScope flushed(Type::float32, Class::fast, Sums::worst, true);
  EXPECT_TRUE(inside(x * y, 0));
}

TEST(Bounded, SelectOnOverlapIsTheSetOfBoth) {
  const BoundedScope scope(Type::float32, Class::strict);
  const Bounded x = Bounded::raw(1, 0, 0.1), one = Bounded::raw(1.05, 0, 0);
  const TriBool predicate = less(x, one);
  EXPECT_TRUE(predicate.is_maybe());
  EXPECT_TRUE(predicate.exact);
  const Bounded far = select(predicate, Bounded::of(10), Bounded::of(20));
  EXPECT_TRUE(far.is_set());
  EXPECT_EQ(far.hi, 10);
  EXPECT_EQ(far.members_end() - far.members_begin(), 2);
  const Bounded sum = far + Bounded::of(1);
  EXPECT_EQ(sum.hi, 11);
  EXPECT_TRUE(inside(sum, 21));
  Sum<Bounded> total;  // a sum takes the hull
  total.add(far);
  total.add(Bounded::of(1));
  EXPECT_TRUE(inside(total.get(), 21));
  EXPECT_TRUE(inside(total.get(), 11));
  EXPECT_TRUE(less(Bounded::of(1), Bounded::of(2)) == TriBool::yes);
  EXPECT_TRUE(less(Bounded::of(2), Bounded::of(2)) == TriBool::no);
  EXPECT_TRUE(less_equal(Bounded::of(2), Bounded::of(2)) == TriBool::yes);
  EXPECT_TRUE(equal(x, x) == TriBool::maybe);
  EXPECT_TRUE(less(Bounded::of(NAN), Bounded::of(2)) == TriBool::no);
  EXPECT_TRUE(less_equal(Bounded::of(NAN), Bounded::of(2)) == TriBool::no);
}

TEST(Bounded, FiveAlternativesBecomeAHull) {
  const BoundedScope scope(Type::float32, Class::strict);
  Bounded x = Bounded::of(0);
  for (int k = 1; k < 4; ++k) x = either_of(x, Bounded::of(k));
  EXPECT_TRUE(x.is_set());
  x = either_of(x, Bounded::of(9));
  EXPECT_FALSE(x.is_set());
  EXPECT_GE(x.e, 9);
}

TEST(TriBool, TruthTables) {
  const TriBool all[] = {TriBool::no, TriBool::maybe, TriBool::yes};
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      EXPECT_TRUE(both(all[a], all[b]) == all[std::min(a, b)]) << a << b;
      EXPECT_TRUE(either(all[a], all[b]) == all[std::max(a, b)]) << a << b;
    }
    EXPECT_TRUE(negate(all[a]) == all[2 - a]);
    EXPECT_TRUE(both(true, all[a]) == all[a]);
    EXPECT_TRUE(either(all[a], true) == TriBool::yes);
  }
}

// Uses every name of the concept, for every number type.
template <class S>
S use_everything(const S& a, const S& b) {
  S x = a + b - a * b / -a;
  x = select(either(both(less(a, b), negate(equal(a, b))), less_equal(a, b)), x, S::of(1.5));
  x = select(both(negate(is_nan(x)), negate(is_inf(x))), x, constant<S>(2));
  x = x + S(Index{3}) + from_index<S>(4);
  x = x + prim::exp(a) + prim::log(a) + prim::sqrt(a) + prim::tanh(a) + prim::sigmoid(a) +
      prim::softplus(a) + prim::erf(a) + prim::abs(a) + prim::sign(a) + prim::floor(a) +
      prim::ceil(a) + prim::round_even(a) + prim::truncate(a) + prim::sin(a) + prim::cos(a) +
      prim::tan(a) + prim::asin(a) + prim::acos(a) + prim::atan(a) + prim::sinh(a) + prim::cosh(a) +
      prim::asinh(a) + prim::acosh(a) + prim::atanh(a) + prim::reciprocal(a);
  return x;
}

template <class S>
auto min_index(const S& a) {
  return min(floor_index(a), subtract(ceil_index(a), Index{1}));
}

template <class S>
S use_the_rest(const S& a, const S& b) {
  S x = prim::pow(a, b) + prim::fmod(a, b) + prim::maximum(a, b) + prim::minimum(a, b);
  Sum<S> sum;
  sum.add(x);
  sum.subtract(a);
  Prod<S> prod;
  prod.add(b);
  Max<S> max;
  max.add(b);
  Min<S> min;
  min.add(a);
  x = sum.get() + prod.get() + max.get() + min.get();
  const auto i =
      clamp(add(floor_index(a), Index{1}), min_index(a), multiply(ceil_index(b), Index{2}));
  x = x + real<S>(i) + select(less(i, i), a, b);
  return store(hull(x, convert_to<S>(x, Type::int8, true)), Type::float16);
}
TEST(Concept, BoundedAndOpaqueAndExactHaveEveryName) {
  const BoundedScope scope(Type::float32, Class::strict);
  use_everything(Opaque(), Opaque());
  use_the_rest(Opaque(), Opaque());
  use_everything(Exact(0.5), Exact(0.25));
  use_everything(Bounded::of(0.5), Bounded::of(0.25));
  const Bounded b = use_the_rest(Bounded::of(1.5), Bounded::of(2.5));
  EXPECT_TRUE(std::isfinite(b.hi));
}

TEST(Bounded, ASumOfExactTermsOverflowsFromTheLimitOn) {
  const BoundedScope scope(Type::float32, Class::strict);
  const double largest = semantics_context.largest;
  EXPECT_EQ((Bounded::of(largest) + Bounded::of(1)).specials(), 0);
  EXPECT_GT((Bounded::of(largest) + Bounded::of(1)).e, 0);
  EXPECT_EQ((Bounded::of(-largest) - Bounded::of(0x1p102)).specials(), 0);
  EXPECT_EQ((Bounded::of(largest) + Bounded::of(0x1p103)).specials(), special::infinity);
  EXPECT_EQ((Bounded::raw(largest, 0, 0x1p100) + Bounded::of(1)).specials(), special::infinity);
}

TEST(Bounded, ADoubleIsRoundedByAFloatComputation) {
  Tensor doubles(Type::float64, {3});
  doubles.data<double>()[0] = 0.1;
  doubles.data<double>()[1] = 0.5;
  doubles.data<double>()[2] = -infinity;
  const BoundedScope narrow(Type::float32, Class::strict);
  EXPECT_TRUE(inside(exactly<Bounded>(doubles, 0), static_cast<double>(0.1F)));
  EXPECT_LT(exactly<Bounded>(doubles, 0).e, 0x1p-27);
  EXPECT_EQ(exactly<Bounded>(doubles, 1).e, 0);
  EXPECT_EQ(exactly<Bounded>(doubles, 2).hi, -infinity);
  const BoundedScope wide(Type::float64, Class::strict);
  EXPECT_EQ(exactly<Bounded>(doubles, 0).e, 0);
}

}  // namespace
}  // namespace touchstone
