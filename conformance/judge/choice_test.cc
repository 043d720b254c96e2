// Tests results that depend on an argmax which rounding decides.
#include <gtest/gtest.h>

#include <limits>

#include "conformance/judge/judge.h"
#include "reference/kernel.h"
#include "reference/semantics/bounded.h"

namespace touchstone::judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Verdict verdict_of(double expected, float actual, bool unsure) {
  ExtendedOutput<Bounded> output;
  output.shape = {1};
  output.type = Type::float32;
  output.present = true;
  output.unsure_choice = unsure;
  output.values.push_back(Bounded::raw(expected, 0, 0));
  Tensor tensor(Type::float32, {1});
  tensor.data<float>()[0] = actual;
  return judge_extended(output, tensor).verdict;
}

TEST(Choice, DecidesOnlyWhatIsNotFinite) {
  const auto actual = static_cast<float>(-infinity);
  EXPECT_EQ(verdict_of(std::numeric_limits<double>::quiet_NaN(), actual, true), Verdict::open);
  EXPECT_EQ(verdict_of(std::numeric_limits<double>::quiet_NaN(), actual, false),
            Verdict::wrong_value);
  EXPECT_EQ(verdict_of(infinity, actual, true), Verdict::open);
  EXPECT_EQ(verdict_of(2, 3, true), Verdict::wrong_value);
  EXPECT_EQ(verdict_of(2, 2, true), Verdict::exact);
}

TEST(Choice, IsUnsureWhereBoundsOverlap) {
  const auto chosen = [](const Bounded& a, const Bounded& b) {
    unsure_choice = false;
    FirstLargest<Bounded, Index> best;
    best.add(a, 0);
    best.add(b, 1);
    return unsure_choice;
  };
  EXPECT_FALSE(chosen(Bounded::raw(3, 0, 0), Bounded::raw(3, 0, 0)));
  EXPECT_FALSE(chosen(Bounded::raw(3, 0, 0x1p-50), Bounded::raw(2, 0, 0x1p-50)));
  EXPECT_FALSE(chosen(Bounded::raw(3, 0, 0x1p-50), Bounded::raw(infinity, 0, 0)));
  EXPECT_TRUE(chosen(Bounded::raw(3, 0, 0x1p-50), Bounded::raw(3, 0, 0)));
  unsure_choice = false;
}

}  // namespace
}  // namespace touchstone::judge
