// Tests close calls of the judge, which the exact semantics decide.
#include <gtest/gtest.h>

#include <limits>

#include "conformance/judge/judge.h"

namespace touchstone::judge {
namespace {

template <class S>
ExtendedOutput<S> one(S value) {
  return {{1}, Type::float32, true, {}, {std::move(value)}};
}

Verdict verdict(float actual, double exact) {
  const BoundedScope scope(Type::float32, Class::strict);
  Bounded bounded = Bounded::of(1);
  bounded.e = 0x1p-10;
  Tensor made(Type::float32, {1});
  made.data<float>()[0] = actual;
  const ExtendedOutput<Exact> arbiter = one(Exact(exact));
  return judge_extended(one(bounded), made, nullptr, &arbiter).verdict;
}

TEST(Arbiter, AppliesTheBoundToItsOwnValue) {
  const float close = 1 + 0.995F * 0x1p-10F;
  EXPECT_EQ(verdict(close, 1), Verdict::within);
  EXPECT_EQ(verdict(close, 1 - 0x1p-15), Verdict::wrong_value);
  EXPECT_EQ(verdict(1 + 1.005F * 0x1p-10F, 1 + 0x1p-15), Verdict::within);
}

// Exact semantics compute none where an infinite number on the way was multiplied by 0.
TEST(Arbiter, WithoutANumberLeavesItToTheBounds) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(verdict(1 + 0.995F * 0x1p-10F, none), Verdict::within);
  EXPECT_EQ(verdict(1 + 1.005F * 0x1p-10F, none), Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone::judge
