// Tests the aggregate bound of elements that share the errors of sums.
#include <gtest/gtest.h>

#include "conformance/judge/judge.h"

namespace touchstone::judge {
namespace {

// Judges 256 ones, each with a wide bound, that are all off by `times` their aggregate bound.
Verdict verdict_of(float times, Index lanes) {
  constexpr Index many = 256;
  constexpr float aggregate_bound = 0x1p-16F;
  ExtendedOutput<Bounded> expected, aggregate;
  for (ExtendedOutput<Bounded>* const each : {&expected, &aggregate}) {
    each->shape = {many};
    each->type = Type::float32;
    each->present = true;
    each->lanes = lanes;
  }
  Tensor actual(Type::float32, {many});
  for (Index k = 0; k < many; ++k) {
    const auto exact = static_cast<float>(k + 1);
    expected.values.push_back(Bounded::raw(static_cast<double>(exact), 0, 0x1p-6));
    aggregate.values.push_back(
        Bounded::raw(static_cast<double>(exact), 0, static_cast<double>(aggregate_bound * exact)));
    actual.data<float>()[k] = exact + times * aggregate_bound * exact;
  }
  return judge_extended(expected, actual, &aggregate).verdict;
}

TEST(Lanes, FewSumsAreFewDraws) {
  EXPECT_EQ(verdict_of(0.5F, 0), Verdict::within);
  EXPECT_EQ(verdict_of(2, 0), Verdict::wrong_value);
  EXPECT_EQ(verdict_of(2, 1), Verdict::within);
  EXPECT_EQ(verdict_of(4, 1), Verdict::wrong_value);
  EXPECT_EQ(verdict_of(1.25F, 4), Verdict::within);
  EXPECT_EQ(verdict_of(2, 4), Verdict::wrong_value);
  EXPECT_EQ(verdict_of(2, 9), Verdict::wrong_value);
  EXPECT_EQ(verdict_of(2, 256), Verdict::wrong_value);
}

}  // namespace
}  // namespace touchstone::judge
