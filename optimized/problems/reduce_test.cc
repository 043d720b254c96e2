// Tests that the problems of a reduction, over any axes, together reduce the elements that the
// definition names.
#include "optimized/problems/reduce.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "core/error.h"
#include "core/property_testing.h"

namespace touchstone::optimized {
namespace {

struct Counts {
  int problems = 0, by_rows = 0, copied = 0;
};

Counts solve(const Shape& kept, const Shape& reduced, const Operand& input,
             std::vector<float>& output) {
  Counts counts;
  reduce_problems(kept, reduced, {input}, output.data(), [&](const ReduceProblem& p) {
    ++counts.problems;
    counts.by_rows += p.by_rows;
    counts.copied += p.inputs[0].data < input.data ||
                     p.inputs[0].data >= input.data + count(kept) * count(reduced);
    RC_ASSERT(!p.by_rows || p.extents[0] == 1);
    for (Index o = 0; o < p.extents[2]; ++o) {
      for (Index r = 0; r < p.extents[1]; ++r) {
        for (Index x = 0; x < p.extents[0]; ++x) {
          const auto at = [&](const std::array<Index, 3>& s) {
            return x * s[0] + r * s[1] + o * s[2];
          };
          p.output[at(p.output_strides)] += p.inputs[0].data[at(p.inputs[0].strides)];
        }
      }
    }
  });
  return counts;
}

// Sums over the dimensions that are marked. Checks each element and counts the problems.
Counts summed(const std::vector<std::pair<Index, bool>>& drawn) {
  Shape shape, kept, extents;
  IndexVector over;
  for (const auto& [extent, is_reduced] : drawn) {
    if (is_reduced) over.push_back(shape.size()), extents.push_back(extent);
    shape.push_back(extent);
    kept.push_back(is_reduced ? 1 : extent);
  }
  std::vector<float> data(static_cast<std::size_t>(count(shape))),
      out(static_cast<std::size_t>(count(kept)));
  std::iota(data.begin(), data.end(), 1.0F);
  const View<const float> view(data.data(), shape, Type::float32);
  const auto spot = [&](const IndexVector& p) {
    return replaced(head(p, kept.size()), over, tail(p, kept.size()));
  };
  const Counts counts = solve(kept, extents, operand(view, join(kept, extents), spot), out);
  for (Index e = 0; e < count(kept); ++e) {
    float sum = 0;
    for (Index r = 0; r < count(extents); ++r)
      sum += view.read(spot(join(unravel(e, kept), unravel(r, extents))));
    RC_ASSERT(out[static_cast<std::size_t>(e)] == sum);
  }
  return counts;
}

RC_GTEST_PROP(Reduce, AnyAxesOfAnyRank, ()) {
  summed(
      *testing::up_to(5, rc::gen::pair(testing::from_to<Index>(1, 4), rc::gen::arbitrary<bool>())));
}

TEST(Reduce, RowsAreReadAsTheyStandOrCopied) {
  EXPECT_GT(summed({{4, false}, {3, true}}).by_rows, 0);
  EXPECT_GT(summed({{4, true}, {3, false}, {2, true}, {4, false}, {3, true}}).copied, 0);
}

TEST(Reduce, TheLastAxisIsRowsAndTheFirstColumns) {
  std::vector<float> data(12), out(4);
  const Operand rows{data.data(), {3, 1}};
  reduce_problems({4}, {3}, {rows}, out.data(), [](const ReduceProblem& p) {
    EXPECT_TRUE(p.by_rows);
    EXPECT_EQ(p.extents, (std::array<Index, 3>{1, 3, 4}));
  });
  const Operand columns{data.data(), {1, 4}};
  reduce_problems({4}, {3}, {columns}, out.data(), [](const ReduceProblem& p) {
    EXPECT_FALSE(p.by_rows);
    EXPECT_EQ(p.extents, (std::array<Index, 3>{4, 3, 1}));
  });
}

TEST(Reduce, OfNothingThereIsStillAResult) {
  std::vector<float> out(3, 7);
  int problems = 0;
  reduce_problems({3}, {0}, {Operand{out.data(), {0, 0}}}, out.data(), [&](const ReduceProblem& p) {
    ++problems;
    EXPECT_EQ(p.extents[1], 0);
  });
  EXPECT_EQ(problems, 1);
}

TEST(Reduce, TooFarIsRefusedByName) {
  try {
    const Index n = Index{1} << 32;
    float result = 0;
    reduce_problems({1}, {n}, {Operand{nullptr, {0, 1}}}, &result,
                    [](const ReduceProblem&) { FAIL(); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
  }
}

}  // namespace
}  // namespace touchstone::optimized
