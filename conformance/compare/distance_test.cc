// Distances count differing elements and locate the largest; values of different type or shape have
// no number.
#include "conformance/compare/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/compare/testing.h"

namespace touchstone::compare {
namespace {

using testing::floats;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Distance, TheFarthestElementIsShown) {
  const Distance found = distance("y", floats({1, 2, 4}), floats({1, 2.5, 3.75}));
  EXPECT_EQ(found.elements, 3);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(found.most, 0.5);
  EXPECT_EQ(found.scale, 4);
  EXPECT_EQ(found.relative(), 0.125);
  EXPECT_EQ(found.place, "[1]");
  EXPECT_EQ(found.left, "2 (0x40000000)");
  EXPECT_EQ(found.right, "2.5 (0x40200000)");
  EXPECT_FALSE(found.same());
}

TEST(Distance, NotANumberOnBothSidesIsTheSame) {
  EXPECT_TRUE(distance("y", floats({nan, infinity}), floats({nan, infinity})).same());
  const Distance found = distance("y", floats({1, nan}), floats({1, 1}));
  EXPECT_EQ(found.different, 1);
  EXPECT_TRUE(std::isinf(found.relative()));
  EXPECT_TRUE(std::isinf(distance("y", floats({infinity}), floats({-infinity})).relative()));
}

TEST(Distance, OtherTypesShapesAndContainersAreUnlike) {
  EXPECT_EQ(distance("y", floats({1}), floats({1, 2})).unlike, "[1] | [2]");
  EXPECT_EQ(distance("y", floats({1}), Tensor(Type::float64, {1})).unlike,
            "tensor(float) | tensor(double)");
  EXPECT_EQ(distance("y", {}, floats({1})).unlike, "not on the left");
  EXPECT_TRUE(distance("y", {}, {}).same());
  const ValueType inner = tensor_type(Type::float32);
  const Value one = Sequence{inner, {floats({1})}}, two = Sequence{inner, {floats({2})}};
  EXPECT_TRUE(distance("y", one, one).same());
  EXPECT_NE(distance("y", one, two).unlike, "");
  EXPECT_TRUE(std::isinf(distance("y", one, two).relative()));
}

TEST(Distance, StringsAreEqualOrNot) {
  Tensor left(Type::string, {2}), right(Type::string, {2});
  left.data<std::string>()[1] = "a", right.data<std::string>()[1] = "b";
  const Distance found = distance("y", left, right);
  EXPECT_EQ(found.different, 1);
  EXPECT_EQ(found.left, "\"a\"");
}

TEST(Distance, OfAllOutputsTheFarthestCounts) {
  const std::vector<ValueInfo> outputs{{"a", {}, {}}, {"b", {}, {}}};
  const std::vector<Distance> all = distances(outputs, {{"a", floats({1})}, {"b", floats({2})}},
                                              {{"a", floats({1})}, {"b", floats({1})}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].same());
  EXPECT_EQ(farthest(all), 0.5);
}

}  // namespace
}  // namespace touchstone::compare
