// Tests that the problems of an elementwise call together read and write the elements that the
// definition names, each once.
#include "optimized/problems/elementwise.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "core/error.h"
#include "core/property_testing.h"

namespace touchstone::optimized {
namespace {

// Solves a problem for the definition C[i] = A[..] * 1000 + B[..].
int solve(const Shape& extents, const std::vector<Operand>& inputs, std::vector<float>& output) {
  int problems = 0;
  elementwise_problems(extents, inputs, output.data(), [&](const Problem<4>& p) {
    ++problems;
    for (Index w = 0; w < p.extents[3]; ++w) {
      for (Index z = 0; z < p.extents[2]; ++z) {
        for (Index y = 0; y < p.extents[1]; ++y) {
          for (Index x = 0; x < p.extents[0]; ++x) {
            const auto at = [&](const std::array<Index, 4>& s) {
              return x * s[0] + y * s[1] + z * s[2] + w * s[3];
            };
            p.output[at(p.output_strides)] += p.inputs[0].data[at(p.inputs[0].strides)] * 1000 +
                                              p.inputs[1].data[at(p.inputs[1].strides)];
          }
        }
      }
    }
    RC_ASSERT(p.output_strides[0] == 1);
  });
  return problems;
}

// Adds operands of which the second repeats where `repeats` tells it. Checks each element and
// returns the number of problems.
int added(const std::vector<std::pair<Index, bool>>& drawn) {
  Shape extents, narrow;
  for (const auto& [extent, repeats] : drawn) {
    extents.push_back(extent);
    narrow.push_back(repeats ? 1 : extent);
  }
  std::vector<float> a(static_cast<std::size_t>(count(extents))),
      b(static_cast<std::size_t>(count(narrow))), c(a.size());
  std::iota(a.begin(), a.end(), 1.0F);
  std::iota(b.begin(), b.end(), 1.0F);
  const View<const float> left(a.data(), extents, Type::float32),
      right(b.data(), narrow, Type::float32);
  const auto same = [](const IndexVector& p) { return p; };
  const auto repeated = [&](const IndexVector& p) { return fit(p, right); };
  const int problems =
      solve(extents, {operand(left, extents, same), operand(right, extents, repeated)}, c);
  for (Index e = 0; e < count(extents); ++e) {
    const IndexVector p = unravel(e, extents);
    RC_ASSERT(c[static_cast<std::size_t>(e)] == left.read(p) * 1000 + right.read(fit(p, right)));
  }
  return problems;
}

RC_GTEST_PROP(Elementwise, EveryElementOnceWhateverTheRank, ()) {
  added(
      *testing::up_to(6, rc::gen::pair(testing::from_to<Index>(1, 3), rc::gen::arbitrary<bool>())));
}

TEST(Elementwise, MoreThanFourDimensionsAreSeveralProblems) {
  EXPECT_GT(added({{3, false}, {2, true}, {3, false}, {2, true}, {3, false}, {2, true}}), 1);
}

TEST(Elementwise, NothingOfNothing) {
  std::vector<float> none;
  EXPECT_EQ(solve({3, 0, 2}, {Operand{nullptr, {0, 0, 0}}, Operand{nullptr, {0, 0, 0}}}, none), 0);
}

TEST(Elementwise, TooLongIsRefusedByName) {
  const Shape long_one{Index{1} << 32};
  try {
    elementwise_problems(long_one, {Operand{nullptr, {1}}}, nullptr,
                         [](const Problem<4>&) { FAIL(); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
  }
}

TEST(Elementwise, ManyShortOnesAreCut) {
  const Index n = Index{1} << 17;
  Index problems = 0, elements = 0;
  float base = 0;  // the problems' pointers are not dereferenced
  elementwise_problems({n, n}, {Operand{&base, {n, 1}}}, &base, [&](const Problem<4>& p) {
    ++problems;
    elements += p.extents[0] * p.extents[1] * p.extents[2] * p.extents[3];
  });
  EXPECT_GT(problems, 1);
  EXPECT_EQ(elements, n * n);
}

TEST(Operand, OutsideIsAnError) {
  const std::vector<float> a(4);
  const View<const float> view(a.data(), {2, 2}, Type::float32);
  EXPECT_THROW(operand(view, {2, 3}, [](const IndexVector& p) { return p; }), Error);
  EXPECT_THROW(operand(view, {2, 2},
                       [](const IndexVector& p) {
                         return IndexVector{p[0] - 1, p[1]};
                       }),
               Error);
}

}  // namespace
}  // namespace touchstone::optimized
