// Tests the statistics of a report, on samples whose answers are exact.
#include "tools/bench/statistics.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::bench {
namespace {

TEST(Statistics, MedianIsTheMiddleOrBetweenTheTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, PercentileIsLinearBetweenNeighbours) {
  std::vector<double> sample;
  for (int k = 20; k >= 0; --k) sample.push_back(k);
  EXPECT_EQ(percentile(sample, 0.95), 19);
  EXPECT_EQ(percentile(sample, 0), 0);
  EXPECT_EQ(percentile(sample, 1), 20);
  EXPECT_EQ(percentile({0, 8}, 0.25), 2);
}

TEST(Statistics, GeometricMeanOfPowersOfTwo) {
  const std::vector<double> sample{0.5, 2, 8};
  EXPECT_EQ(geometric_mean(sample), 2);
  const std::vector<double> inverse{1, 4, 0.25};
  EXPECT_EQ(geometric_mean(inverse), 1);
}

TEST(Statistics, ARatioIsTakenWithinItsRound) {
  // In the second round the machine was three times slower for both, so the ratio is unchanged.
  const std::vector<std::vector<double>> peer{{2, 2, 9}, {6, 6, 6}}, ours{{1, 1, 1}, {3, 3, 30}};
  EXPECT_EQ(ratios(peer, ours), (std::vector<double>{2, 2}));
}

TEST(Statistics, NothingHasNoFigure) {
  EXPECT_THROW(median({}), Error);
  EXPECT_THROW(geometric_mean({}), Error);
  const std::vector<double> zero{1, 0};
  EXPECT_THROW(geometric_mean(zero), Error);
  const std::vector<std::vector<double>> one{{1}}, none;
  EXPECT_THROW(ratios(one, none), Error);
}

}  // namespace
}  // namespace touchstone::bench
