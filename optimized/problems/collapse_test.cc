// Tests that iterating over the merged dimensions visits the same elements in the same order.
#include "optimized/problems/collapse.h"

#include <gtest/gtest.h>

#include <random>

namespace touchstone {
namespace {

std::vector<std::vector<Index>> visited(const Shape& extents,
                                        const std::vector<IndexVector>& strides) {
  std::vector<std::vector<Index>> all;
  each_outer({extents, strides}, extents.size(),
             [&](const std::vector<Index>& offsets) { all.push_back(offsets); });
  return all;
}

TEST(Collapse, DenseIsOneDimension) {
  const Collapsed c = collapse({2, 3, 4}, {{12, 4, 1}, {12, 4, 1}});
  EXPECT_EQ(c.extents, Shape({24}));
  EXPECT_EQ(c.strides[1], IndexVector({1}));
}

TEST(Collapse, OnesVanishAndRepeatedDimensionsMerge) {
  const Collapsed c = collapse({5, 1, 2, 3}, {{6, 6, 3, 1}, {0, 0, 0, 0}, {1, 0, 0, 0}});
  EXPECT_EQ(c.extents, Shape({5, 6}));
  EXPECT_EQ(c.strides[0], IndexVector({6, 1}));
  EXPECT_EQ(c.strides[1], IndexVector({0, 0}));
  EXPECT_EQ(c.strides[2], IndexVector({1, 0}));
}

TEST(Collapse, AScalarHasNoDimensions) {
  const Collapsed c = collapse({1, 1}, {{1, 1}});
  EXPECT_TRUE(c.extents.empty());
  EXPECT_EQ(visited(c.extents, c.strides).size(), 1U);
}

TEST(Collapse, DoesNotGrowPastWhatAKernelCounts) {
  const Index big = Index{1} << 20;
  const Collapsed c = collapse({big, big}, {{big, 1}});
  EXPECT_EQ(c.extents, Shape({big, big}));
}

TEST(Collapse, VisitsTheSameElementsInOrder) {
  std::mt19937 random(3);
  for (int k = 0; k < 500; ++k) {
    Shape extents;
    std::vector<IndexVector> strides(3);
    Index dense = 1;
    for (Index d = static_cast<Index>(random() % 6); d > 0; --d)
      extents.push_back(1 + static_cast<Index>(random() % 4));
    for (IndexVector& s : strides) {
      s = IndexVector(extents.size(), 0);
      dense = 1;
      for (Index d = extents.size() - 1; d >= 0; --d) {
        s[d] = random() % 3 == 0 ? 0 : dense;
        dense *= extents[d];
      }
    }
    const Collapsed c = collapse(extents, strides);
    EXPECT_EQ(visited(c.extents, c.strides), visited(extents, strides)) << text(extents);
  }
}

}  // namespace
}  // namespace touchstone
