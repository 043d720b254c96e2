// Points against std::vector, and counts that do not fit.
#include "core/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "core/checked.h"
#include "core/error.h"

namespace touchstone {
namespace {

std::vector<Index> listed(const IndexVector& point) { return {point.begin(), point.end()}; }

TEST(IndexVector, ParenthesesCountAndBracesList) {
  EXPECT_EQ(IndexVector(2, 3), (IndexVector{3, 3}));
  EXPECT_EQ(IndexVector(0, 0), IndexVector());
  EXPECT_EQ((IndexVector{2, 3}).size(), 2);
}

TEST(IndexVector, AppendsItsOwnIndices) {
  IndexVector point{1, 2, 3};
  for (int round = 0; round < 4; ++round) point.append(point.begin(), point.end());
  ASSERT_EQ(point.size(), 48);
  for (Index k = 0; k < 48; ++k) EXPECT_EQ(point[k], k % 3 + 1);
}

TEST(IndexVector, MovedFromIsEmptyAndUsable) {
  IndexVector longer(20, 7);
  const IndexVector taken = std::move(longer);
  EXPECT_EQ(taken, IndexVector(20, 7));
  EXPECT_TRUE(longer.empty());  // NOLINT: moved-from on purpose
  longer.append(taken.begin(), taken.end());
  EXPECT_EQ(longer, taken);
  IndexVector& same = longer;
  longer = std::move(same);
  EXPECT_EQ(longer, taken);
}

RC_GTEST_PROP(IndexVector, BehavesAsAVector,
              (const std::vector<Index>& first, const std::vector<Index>& second)) {
  IndexVector point(first.data(), first.data() + first.size());
  std::vector<Index> vector = first;
  for (const Index i : second) point.push_back(i), vector.push_back(i);
  RC_ASSERT(listed(point) == vector);
  IndexVector copied(1, 1);
  copied = point;
  point.resize(static_cast<Index>(first.size()) + 3, 9);
  vector.resize(first.size() + 3, 9);
  RC_ASSERT(listed(point) == vector);
  const IndexVector moved = std::move(point);
  RC_ASSERT(listed(moved) == vector);
  RC_ASSERT(copied.size() == static_cast<Index>(first.size() + second.size()));
}

TEST(Count, MultipliesSizes) {
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({2, 3, 4}), 24);
  EXPECT_EQ(text({2, 3, 4}), "[2,3,4]");
  EXPECT_EQ(text(Shape{}), "[]");
  EXPECT_EQ(count({Index{1} << 31, Index{1} << 31}), Index{1} << 62);
}

TEST(Count, ZeroIsZeroBesideAnySize) { EXPECT_EQ(count({Index{1} << 40, Index{1} << 40, 0}), 0); }

TEST(Count, RefusesWhatDoesNotFit) {
  try {
    count({Index{1} << 32, Index{1} << 31});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::limit);
    EXPECT_THAT(error.message, ::testing::HasSubstr("[4294967296,2147483648]")) << error.message;
  }
  try {
    count({3, -1});
    FAIL();
  } catch (const Error& error) {  // the model's fault, not ours
    EXPECT_EQ(error.kind, ErrorKind::invalid_input);
    EXPECT_THAT(error.message, ::testing::HasSubstr("[3,-1]")) << error.message;
  }
}

TEST(DenseStrides, FollowTheSizesFromTheRight) {
  EXPECT_EQ(dense_strides({2, 3, 4}), (IndexVector{12, 4, 1}));
  EXPECT_EQ(dense_strides({}), IndexVector());
  EXPECT_EQ(dense_strides({2, 0, 4}), (IndexVector{0, 4, 1}));
}

TEST(DenseStrides, AreZeroWhereNothingIsAndNoNumberFits) {
  EXPECT_EQ(dense_strides({0, Index{1} << 40, Index{1} << 40}), IndexVector(3, 0));
  EXPECT_THROW(dense_strides({2, Index{1} << 40, Index{1} << 40}), Error);
}

RC_GTEST_PROP(Checked, IsExactOrRefused, (Index a, Index b)) {
  const auto agrees = [](auto compute, __int128 exact) {
    const bool fits =
        exact >= std::numeric_limits<Index>::min() && exact <= std::numeric_limits<Index>::max();
    try {
      return compute().value() == static_cast<Index>(exact) && fits;
    } catch (const Error& error) {
      return !fits && error.kind == ErrorKind::limit;
    }
  };
  const Checked x = a, y = b;
  const __int128 wide = a;
  RC_ASSERT(agrees([&] { return x + y; }, wide + b));
  RC_ASSERT(agrees([&] { return x - y; }, wide - b));
  RC_ASSERT(agrees([&] { return x * y; }, wide * b));
}

RC_GTEST_PROP(Fits, NotesWhatDidNot, (Index a, Index b)) {
  const auto notes = [](Index (Fits::*operation)(Index, Index), Index a, Index b, __int128 exact) {
    Fits fits;
    const Index result = (fits.*operation)(a, b);
    const bool held = fits.all();
    fits.add(0, 0);  // once recorded, an overflow stays
    return held == fits.all() && held == (exact == static_cast<Index>(exact)) &&
           (!held || result == exact);
  };
  const __int128 wide = a;
  RC_ASSERT(notes(&Fits::add, a, b, wide + b));
  RC_ASSERT(notes(&Fits::subtract, a, b, wide - b));
  RC_ASSERT(notes(&Fits::multiply, a, b, wide * b));
}

TEST(Checked, SaysWhatDoesNotFit) {
  try {
    multiply(8, Index{1} << 61);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::limit);
    EXPECT_EQ(error.message, "a size or index does not fit 64 bits: 8 * 2305843009213693952");
    EXPECT_FALSE(error.help.empty());
  }
}

TEST(Checked, RefusesAtTheEdges) {
  constexpr Index most = std::numeric_limits<Index>::max(),
                  least = std::numeric_limits<Index>::min();
  EXPECT_EQ((Checked(most - 1) + 1).value(), most);
  EXPECT_THROW(Checked(most) + 1, Error);
  EXPECT_THROW(Checked(least) - 1, Error);
  EXPECT_THROW(Checked(least) * -1, Error);
  EXPECT_THROW(Checked(least) / -1, Error);
  EXPECT_THROW(Checked(1) / 0, Error);
  EXPECT_THROW(Checked(~std::uint64_t{0}), Error);
  EXPECT_EQ((Checked(-7) / 2).value(), -4);
}

}  // namespace
}  // namespace touchstone
