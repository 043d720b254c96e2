// The output_checker accepts faithful arithmetic, and refuses faulty answers: another input's
// output, an extra element, no output.
#include "tools/bench/output_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace touchstone::bench {
namespace {

Value floats(const std::vector<float>& numbers) {
  Tensor out(Type::float32, {static_cast<Index>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), out.data<float>());
  return out;
}

Value integers(const std::vector<Index>& numbers) {
  Tensor out(Type::int64, {static_cast<Index>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), out.data<Index>());
  return out;
}

const std::vector<ValueInfo> outputs{{"y", {}, {}}, {"k", {}, {}}};

// Outputs that change by half of their largest element if the inputs change by one float.
const Outputs sensitive{{"y", floats({1, -4, 0})}, {"k", integers({1})}};

OutputChecker two_inputs(const Outputs& moved = sensitive, Index nodes = 1) {
  return OutputChecker(outputs,
                       {{{"y", floats({1, -4, 2})}, {"k", integers({1})}},
                        {{"y", floats({2, 3, 8})}, {"k", integers({2})}}},
                       moved, nodes);
}

// Returns the distance up to which an output passes, in powers of 2.
double allowed(const OutputChecker& output_checker) {
  for (double far = 0x1p-4; far > 0x1p-30; far /= 2) {
    const auto y = static_cast<float>(8 - 8 * far);
    if (output_checker.hold(1, {{"y", floats({2, 3, y})}, {"k", integers({2})}}).fault.empty())
      return far;
  }
  return 0;
}

// Rounding errors of 4^k nodes are 2^k times those of one; an output that is more sensitive to its
// inputs may differ more.
TEST(OutputChecker, NearIsAsRoundingsOfTheModelLeaveIt) {
  const Outputs dull{{"y", floats({1, -4, 2})}, {"k", integers({1})}};
  const Outputs moves{{"y", floats({1, -4, 2 + 0x1p-19f})}, {"k", integers({1})}};
  EXPECT_EQ(allowed(two_inputs(dull, 1)), 0x1p-18);
  EXPECT_EQ(allowed(two_inputs(dull, 16)), 0x1p-16);
  EXPECT_EQ(allowed(two_inputs(moves, 1)), 0x1p-15);
  EXPECT_EQ(allowed(two_inputs(moves, 256)), 0x1p-11);
  EXPECT_EQ(allowed(two_inputs(moves, 1 << 20)), 0x1p-10);  // the standard's own tolerance at most
}

TEST(OutputChecker, WhatRoundingMovesIsRight) {
  const OutputChecker output_checker = two_inputs();
  const OutputChecker::Ruling same =
      output_checker.hold(1, {{"y", floats({2, 3, 8})}, {"k", integers({2})}});
  EXPECT_EQ(same.fault, "");
  EXPECT_EQ(same.distance, 0);
  const OutputChecker::Ruling near =
      output_checker.hold(1, {{"y", floats({2, 3, 8 - 0x1p-10f})}, {"k", integers({2})}});
  EXPECT_EQ(near.fault, "");
  EXPECT_EQ(near.distance, 0x1p-13);
  EXPECT_EQ(output_checker.indistinguishable(), "");
}

TEST(OutputChecker, AThousandthOfTheLargestElementIsTooFar) {
  const OutputChecker::Ruling far =
      two_inputs().hold(1, {{"y", floats({2, 3.01f, 8})}, {"k", integers({2})}});
  EXPECT_THAT(far.fault, ::testing::HasSubstr("output 'y'")) << far.fault;
}

TEST(OutputChecker, AnOutputOfAnotherInputNeverPasses) {
  // The two differ by 2^-12 of the largest element, which alone would be accepted.
  const OutputChecker output_checker({{"y", {}, {}}},
                                     {{{"y", floats({1, 4096})}}, {{"y", floats({2, 4096})}}},
                                     {{"y", floats({9, 4096})}}, 1);
  EXPECT_EQ(output_checker.indistinguishable(), "");
  EXPECT_EQ(output_checker.hold(0, {{"y", floats({1, 4096})}}).fault, "");
  EXPECT_NE(output_checker.hold(0, {{"y", floats({2, 4096})}}).fault, "");
}

TEST(OutputChecker, OutputsThatInputsDoNotMoveShowNothing) {
  const OutputChecker output_checker({{"y", {}, {}}},
                                     {{{"y", floats({1, 2})}}, {{"y", floats({1, 2})}}},
                                     {{"y", floats({1, 2})}}, 1);
  EXPECT_NE(output_checker.indistinguishable(), "");
}

TEST(OutputChecker, OneOutputThatTellsIsEnough) {
  const OutputChecker output_checker(
      outputs,
      {{{"y", floats({1})}, {"k", integers({5})}}, {{"y", floats({2})}, {"k", integers({5})}}},
      {{"y", floats({1})}, {"k", integers({5})}}, 1);
  EXPECT_EQ(output_checker.indistinguishable(), "");
}

TEST(OutputChecker, IntegersAreTheSameOrWrong) {
  const OutputChecker::Ruling off =
      two_inputs().hold(0, {{"y", floats({1, -4, 2})}, {"k", integers({2})}});
  EXPECT_THAT(off.fault, ::testing::HasSubstr("output 'k'")) << off.fault;
}

TEST(OutputChecker, WhatIsMissingOrNoNumberOrOfAnotherShapeIsWrong) {
  const OutputChecker output_checker = two_inputs();
  EXPECT_EQ(output_checker.hold(0, {{"y", floats({1, -4, 2})}}).fault, "output 'k' is missing");
  for (const Value& wrong :
       {floats({1, -4, NAN}), floats({1, -4, INFINITY}), floats({1, -4}), integers({1, -4, 2})}) {
    EXPECT_NE(output_checker.hold(0, {{"y", wrong}, {"k", integers({1})}}).fault, "");
  }
}

}  // namespace
}  // namespace touchstone::bench
