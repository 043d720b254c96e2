// Faults that need a few hidden values are found exactly; those that need all values are reported
// whole.
#include "conformance/compare/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace touchstone::compare {
namespace {

using Positions = std::vector<std::size_t>;

Shows needs(const Positions& needed) {
  return [needed](const Positions& hidden) {
    return std::includes(hidden.begin(), hidden.end(), needed.begin(), needed.end());
  };
}

TEST(Bisect, OneValueOfAThousand) {
  for (const std::size_t guilty : {0, 1, 499, 998, 999}) {
    const Bisected found = bisect(1000, needs({guilty}), 100);
    EXPECT_EQ(found.hidden, Positions{guilty});
    EXPECT_LE(found.runs, 20);
    EXPECT_TRUE(found.smallest);
  }
}

TEST(Bisect, NeighboursAndWhatLiesBetweenThem) {
  EXPECT_EQ(bisect(100, needs({49, 50}), 100).hidden, (Positions{49, 50}));
  EXPECT_EQ(bisect(100, needs({40, 47}), 100).hidden, (Positions{40, 47}));
  EXPECT_EQ(bisect(100, needs({0, 99}), 1000).hidden, (Positions{0, 99}));
}

TEST(Bisect, WhatAnyTapHidesIsLeftWhole) {
  const Shows all = [](const Positions& hidden) { return hidden.size() == 12; };
  const Bisected found = bisect(12, all, 100);
  EXPECT_EQ(found.hidden.size(), 12u);
  EXPECT_TRUE(found.smallest);
}

TEST(Bisect, EitherOfTwoIsEnough) {
  const Shows either = [](const Positions& hidden) {
    return std::count(hidden.begin(), hidden.end(), 3u) +
               std::count(hidden.begin(), hidden.end(), 8u) >
           0;
  };
  EXPECT_EQ(bisect(12, either, 100).hidden, Positions{3});
}

TEST(Bisect, StopsWhereItsRunsEndWithSomethingThatShows) {
  Index runs = 0;
  const Shows shows = [&](const Positions& hidden) {
    ++runs;
    return needs({10, 90})(hidden);
  };
  const Bisected found = bisect(100, shows, 9);
  EXPECT_EQ(found.runs, 9);
  EXPECT_EQ(runs, 9);
  EXPECT_FALSE(found.smallest);
  EXPECT_TRUE(needs({10, 90})(found.hidden));
  EXPECT_LT(found.hidden.size(), 100u);
}

TEST(Bisect, ASingleValueNeedsNoRun) {
  const Bisected found = bisect(1, needs({0}), 100);
  EXPECT_EQ(found.hidden, Positions{0});
  EXPECT_EQ(found.runs, 0);
}

}  // namespace
}  // namespace touchstone::compare
