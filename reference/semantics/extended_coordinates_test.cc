// Fractions of a turn: exact at quarters, and faithful floats are inside the bound.
#include "reference/semantics/extended_coordinates.h"

#include <gtest/gtest.h>

#include <cmath>

namespace touchstone {
namespace {

bool allows(const Bounded& b, double x) { return std::abs((x - b.hi) - b.lo) <= b.e; }

TEST(Turns, WholeQuartersAreExact) {
  const BoundedScope scope(Type::float32, Class::strict, Sums::worst, false);
  for (Index n : {4, 8, 12}) {
    for (Index k = -4; k <= 8; ++k) {
      const double cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
      const Index j = k * n / 4, quarter = mod(k, 4);
      EXPECT_EQ(cos_of_turn<float>(j, n), cosine[quarter]);
      EXPECT_EQ(sin_of_turn<double>(j, n), sine[quarter]);
      EXPECT_EQ(cos_of_turn<Bounded>(j, n).hi, cosine[quarter]);
      EXPECT_EQ(sin_of_turn<Bounded>(j, n).hi, sine[quarter]);
      EXPECT_EQ(cos_of_turn<Exact>(j, n).hi(), cosine[quarter]);
      EXPECT_EQ(sin_of_turn<Exact>(j, n).hi(), sine[quarter]);
    }
  }
}

TEST(Turns, WhatNothingHasTurnedHasNoError) {
  const BoundedScope scope(Type::float32, Class::strict, Sums::worst, false);
  EXPECT_EQ(cos_of_turn<Bounded>(6, 3).e, 0);
  EXPECT_EQ(sin_of_turn<Bounded>(-6, 3).e, 0);
}

// The angle is rounded three times before the cosine: any runtime may compute it so, in float.
TEST(Turns, AFaithfulFloatIsAllowed) {
  const BoundedScope scope(Type::float32, Class::strict, Sums::worst, false);
  const float turn = 6.2831855f;
  for (Index n : {3, 7, 10, 1009}) {
    for (Index j = 0; j < n; ++j) {
      const float angle = turn * static_cast<float>(j) / static_cast<float>(n);
      EXPECT_TRUE(allows(cos_of_turn<Bounded>(j, n), std::cos(angle))) << j << " of " << n;
      EXPECT_TRUE(allows(sin_of_turn<Bounded>(j, n), std::sin(angle))) << j << " of " << n;
      EXPECT_TRUE(allows(cos_of_turn<Bounded>(j, n), cos_of_turn<float>(j, n))) << j << " of " << n;
    }
  }
}

TEST(Turns, AWrongTurnIsNot) {
  const BoundedScope scope(Type::float32, Class::strict, Sums::worst, false);
  EXPECT_FALSE(allows(cos_of_turn<Bounded>(1, 13), cos_of_turn<double>(1, 12)));
  EXPECT_FALSE(allows(sin_of_turn<Bounded>(1, 1009), sin_of_turn<double>(1, 1008)));
  EXPECT_FALSE(allows(sin_of_turn<Bounded>(1, 7), -sin_of_turn<double>(1, 7)));
}

TEST(Turns, NothingIsPartOfATurnOfNoParts) {
  EXPECT_THROW(cos_of_turn<float>(1, 0), Error);
  EXPECT_THROW(sin_of_turn<Exact>(1, -1), Error);
}

TEST(Bounds, OfAnIntervalAndOfAnIndex) {
  EXPECT_EQ(up_to(Index{5}), 5);
  EXPECT_EQ(down_to(Index{5}), 5);
  EXPECT_EQ(up_to(IndexRange(3, 4, 3)), 4);
  EXPECT_EQ(down_to(IndexRange(3, 4, 4)), 3);
}

TEST(Bounds, AnIndexMustBeWithinItsExtent) {
  EXPECT_EQ(within(Index{2}, 3), 2);
  EXPECT_THROW(within(Index{3}, 3), Error);
  EXPECT_THROW(within(Index{-1}, 3), Error);
  EXPECT_THROW(within(Index{0}, 0), Error);
}

TEST(Bounds, AnIntervalMustReachItsExtent) {
  const IndexRange part = within(IndexRange(-1, 5, 3), 3);
  EXPECT_EQ(part.lo, 0);
  EXPECT_EQ(part.hi, 2);
  EXPECT_EQ(part.at, 2);
  EXPECT_THROW(within(IndexRange(3, 5, 4), 3), Error);
  EXPECT_THROW(within(IndexRange(-2, -1, -1), 3), Error);
}

}  // namespace
}  // namespace touchstone
