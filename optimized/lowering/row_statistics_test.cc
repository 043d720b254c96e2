// Tests statistics of rows, columns and rows in segments: the judge accepts every output, with one
// thread and two, beside inaccessible pages, of special and of distant numbers.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RowStatistics, Rows) {
  for (const Index length : {7, 8, 16, 31, 64, 65, 197, 1000}) {
    for (const bool special : {false, true}) {
      Net net({6, 2, length, 1});
      net.specials = special;
      net.overflows = true;  // the judge decides
      net.plant = [&](Tensor& x) { std::fill_n(x.data<float>(), length, 0.0F); };
      const std::string last = net.integers({-2}), all = net.integers({1, 2, 3});
      for (const Index p : {1, 2})
        net.output(net.node("LpNormalization", {"x"}, {}, {{"axis", 2}, {"p", p}}));
      net.output(net.node("ReduceLogSumExp", {"x", last}, {}, {{"keepdims", 0}}));
      net.output(net.node("ReduceLogSumExp", {"x", all}));
      net.output(net.node("ReduceLogSumExp", {"x"}));
      for (const std::vector<Index>& axes : {std::vector<Index>{2, 3}, {1, -2}})
        net.output(net.node("MeanVarianceNormalization", {"x"}, {{"axes", axes}}));
      const std::string kernels = net.check();
      for (const char* const op : {"LpNormalization", "ReduceLogSumExp", "MeanVariance"})
        EXPECT_THAT(kernels, HasSubstr(std::string("rows of ") + op));
      EXPECT_THAT(kernels, Not(HasSubstr("row kernel")));
    }
  }
  // Exponentials of rows that are not contiguous, and none.
  Net net({3, 5, 4});
  net.overflows = true;
  net.output(net.node("ReduceLogSumExp", {"x", net.integers({0})}));
  net.output(net.node("ReduceLogSumExp", {"x"}, {}, {{"noop_with_empty_axes", 1}}));
  EXPECT_THAT(net.check(), Not(HasSubstr("rows of")));
}

// Widths of columns: less than a vector, several, and some that are left over.
constexpr std::array column_widths{2, 7, 16, 37, 64, 150};

TEST(RowStatistics, ColumnsByTheirSize) {
  for (const Index width : column_widths) {
    for (const bool special : {false, true}) {
      for (const float size : {1.0F, 1e-36F, 1e34F}) {  // and sizes without a reciprocal
        Net net({3, 70, width});
        net.specials = special;
        net.overflows = true;  // the judge decides
        net.plant = [&](Tensor& x) {
          for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] *= k % width == 0 ? size : 1;
          for (Index k = 1; k < x.size(); k += width) x.data<float>()[k] = 0;
        };
        for (const Index p : {1, 2}) {
          for (const Index axis : {0, 1})
            net.output(net.node("LpNormalization", {"x"}, {}, {{"axis", axis}, {"p", p}}));
        }
        const std::string kernels = net.check();
        EXPECT_THAT(kernels, HasSubstr("rows of LpNormalization"));
        EXPECT_THAT(kernels, Not(HasSubstr("row kernel")));
      }
    }
  }
}

TEST(RowStatistics, MeansAndVariancesOfAnyAxes) {
  for (const Index width : column_widths) {
    for (const bool special : {false, true}) {
      Net net({3, 5, 4, width});
      net.specials = special;
      net.overflows = true;         // the judge decides
      net.plant = [&](Tensor& x) {  // constant, in a column and in a channel
        for (Index k = 1; k < x.size(); k += width) x.data<float>()[k] = 5;
        for (Index n = 0; n < 3; ++n) std::fill_n(x.data<float>() + n * 20 * width, 4 * width, 3);
      };
      net.output(net.node("MeanVarianceNormalization", {"x"}));
      for (const std::vector<Index>& axes : std::vector<std::vector<Index>>{
               {0}, {1}, {2}, {0, 1}, {1, 2}, {0, -1}, {1, 3}, {0, 2, 3}, {-3, -1}, {0, 1, 2, 3}})
        net.output(net.node("MeanVarianceNormalization", {"x"}, {{"axes", axes}}));
      const std::string kernels = net.check();
      EXPECT_THAT(kernels, HasSubstr("rows of MeanVarianceNormalization"));
      EXPECT_THAT(kernels, Not(HasSubstr("row kernel")));
    }
  }
}

TEST(RowStatistics, ColumnsOfManyRows) {
  Net net({1, 1000, 19});
  net.overflows = true;  // the judge decides
  net.plant = [](Tensor& x) {
    for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] += 100;
  };
  net.output(net.node("MeanVarianceNormalization", {"x"}, {{"axes", {1}}}));
  net.output(net.node("LpNormalization", {"x"}, {}, {{"axis", 1}}));
  EXPECT_THAT(net.check(), Not(HasSubstr("row kernel")));
}

TEST(RowStatistics, AxesThatTakeMoreTurns) {
  Net net({2, 3, 4, 3, 2});
  net.overflows = true;
  net.output(net.node("MeanVarianceNormalization", {"x"}, {{"axes", {1, 3, 4}}}));
  EXPECT_THAT(net.check(), HasSubstr("rows of MeanVarianceNormalization"));
  Net more({2, 3, 4, 3, 2});
  more.overflows = true;
  more.output(more.node("MeanVarianceNormalization", {"x"}, {{"axes", {0, 2, 4}}}));
  EXPECT_THAT(more.check(), Not(HasSubstr("rows of")));
}

TEST(RowStatistics, NothingToNormalize) {
  Net net({3, 0, 5});
  net.output(net.node("LpNormalization", {"x"}, {}, {{"axis", 0}}));
  net.output(net.node("LpNormalization", {"x"}, {}, {{"axis", 1}}));
  net.output(net.node("MeanVarianceNormalization", {"x"}, {{"axes", {0, 2}}}));
  net.check();
}

TEST(RowStatistics, SumsAndExtremes) {
  for (const Index length : {2, 3, 9, 15, 16, 17, 31, 49, 64, 65, 200}) {
    for (const bool special : {false, true}) {
      Net net({5, 7, length, 1});
      net.specials = special;
      net.overflows = true;  // the judge decides
      const std::string last = net.integers({-2});
      const std::string ops[] = {"ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceMax",
                                 "ReduceMean", "ReduceMin", "ReduceSum",    "ReduceSumSquare"};
      for (const std::string& op : ops) {
        net.output(net.node(op, {"x", last}, {}, {{"keepdims", 0}}));
        net.output(net.node(op, {"x", net.integers({2, 3})}));
      }
      const std::string kernels = net.check();
      for (const std::string& op : ops) EXPECT_THAT(kernels, HasSubstr("rows of " + op + " "));
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
