// Tests that the problems of a reduction, over any axes, together reduce the elements that the
// definition names.
#include "optimized/problems/reduce.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "core/error.h"

namespace touchstone {
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
    EXPECT_TRUE(!p.by_rows || p.extents[0] == 1);
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

TEST(Reduce, AnyAxesOfAnyRank) {
  std::mt19937 random(11);
  Counts all;
  for (int k = 0; k < 400; ++k) {
    Shape shape, kept, extents;
    IndexVector over;
    for (Index d = 0, rank = static_cast<Index>(random() % 6); d < rank; ++d) {
      shape.push_back(1 + static_cast<Index>(random() % 4));
      if (random() % 2) over.push_back(d), extents.push_back(shape.back());
      kept.push_back(!over.empty() && over.back() == d ? 1 : shape.back());
    }
    std::vector<float> data(static_cast<std::size_t>(count(shape))),
        out(static_cast<std::size_t>(count(kept)));
    std::iota(data.begin(), data.end(), 1.0F);
    const View<const float> view(data.data(), shape, Type::float32);
    const auto spot = [&](const IndexVector& p) {
      return replaced(head(p, kept.size()), over, tail(p, kept.size()));
    };
    const Counts c = solve(kept, extents, operand(view, join(kept, extents), spot), out);
    all.problems = std::max(all.problems, c.problems), all.by_rows += c.by_rows,
    all.copied += c.copied;
    for (Index e = 0; e < count(kept); ++e) {
      float sum = 0;
      for (Index r = 0; r < count(extents); ++r)
        sum += view.read(spot(join(unravel(e, kept), unravel(r, extents))));
      EXPECT_EQ(out[static_cast<std::size_t>(e)], sum) << text(shape) << " over " << text(over);
    }
  }
  EXPECT_GT(all.by_rows, 0);
  EXPECT_GT(all.copied, 0);
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
}  // namespace touchstone
