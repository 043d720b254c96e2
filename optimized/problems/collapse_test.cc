// Tests that iterating over the merged dimensions visits the same elements in the same order.
#include "optimized/problems/collapse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/property_testing.h"

namespace touchstone::optimized {
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

TEST(Collapse, AnEmptyShapeIsOneEmptyDimension) {
  for (const Shape& extents : {Shape{0, 2}, Shape{2, 0}, Shape{0, 0}, Shape{3, 0, 1, 4}}) {
    const Collapsed c = collapse(extents, {dense_strides(extents), IndexVector(extents.size(), 0)});
    EXPECT_EQ(c.extents, Shape({0}));
    EXPECT_EQ(c.strides, std::vector<IndexVector>(2, IndexVector{0}));
  }
}

TEST(Collapse, DoesNotGrowPastWhatAKernelCounts) {
  const Index big = Index{1} << 20;
  const Collapsed c = collapse({big, big}, {{big, 1}});
  EXPECT_EQ(c.extents, Shape({big, big}));
}

RC_GTEST_PROP(Collapse, VisitsTheSameElementsInOrder, ()) {
  using testing::from_to;
  // Extents, and which of three operands each dimension repeats.
  const auto drawn = *testing::up_to(
      5, rc::gen::pair(from_to<Index>(1, 4), rc::gen::arbitrary<std::array<bool, 3>>()));
  Shape extents;
  for (const auto& [extent, repeats] : drawn) extents.push_back(extent);
  std::vector<IndexVector> strides(3, IndexVector(extents.size(), 0));
  for (std::size_t operand = 0; operand < 3; ++operand) {
    Index dense = 1;
    for (Index d = extents.size() - 1; d >= 0; --d) {
      const auto& [extent, repeats] = drawn[static_cast<std::size_t>(d)];
      strides[operand][d] = repeats[operand] ? 0 : dense;
      dense *= extent;
    }
  }
  const Collapsed c = collapse(extents, strides);
  RC_ASSERT(visited(c.extents, c.strides) == visited(extents, strides));
}

}  // namespace
}  // namespace touchstone::optimized
