// Tests convolutions whose taps read padding alone, whose groups share channel blocks, or whose
// windows do not overlap, and pools of whole images.
#include <gmock/gmock.h>

#include <limits>

#include "optimized/kernels/blocked_image.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

std::string dilated(const Shape& x, const Shape& weights, Index dilation, Index pad, Index stride,
                    bool special = false) {
  Net net(x);
  net.specials = special;
  const Index r = x.size() - 2;
  const std::vector<Index> pads(static_cast<std::size_t>(2 * r), pad);
  const std::vector<Index> dilations(static_cast<std::size_t>(r), dilation);
  const std::vector<Index> strides(static_cast<std::size_t>(r), stride);
  const std::string y = net.convolution(
      "x", weights, {{"pads", pads}, {"dilations", dilations}, {"strides", strides}});
  net.output(net.node("Relu", {y}));
  net.output(net.convolution("x", {5, x[1], 1, 1}));
  return net.check();
}

TEST(Windows, TapsThatReadPaddingAlone) {
  for (const Index dilation : {5, 6, 12, 24})
    dilated({2, 18, 6, 6}, {20, 18, 3, 3}, dilation, dilation, 1);
  dilated({1, 18, 6, 6}, {20, 18, 3, 3}, 9, 20, 1);  // points that read padding alone
  dilated({1, 3, 6, 6}, {20, 3, 3, 3}, 8, 8, 1);     // few channels
  dilated({1, 18, 1, 1}, {20, 18, 3, 3}, 1, 1, 1);   // an image of one point
  dilated({1, 18, 1, 1}, {20, 18, 3, 3}, 1, 4, 3);
}

TEST(Windows, TapsThatReadPaddingInSomeRows) {
  for (const bool special : {false, true}) {
    dilated({2, 18, 14, 15}, {20, 18, 3, 3}, 8, 8, 1, special);
    dilated({1, 18, 13, 14}, {40, 18, 5, 5}, 3, 6, 1, special);
  }
  dilated({1, 18, 14, 15}, {20, 18, 3, 3}, 7, 7, 2);
  dilated({1, 18, 14, 9}, {20, 18, 3, 3}, 8, 8, 1);
  dilated({1, 18, 14, 14}, {20, 18, 4, 2}, 5, 3, 1);
}

TEST(Windows, InfiniteWeightsOfPadding) {
  for (const Index dilation : {4, 9}) {
    Net net({1, 16, 6, 6});
    const std::string w = net.constant({16, 16, 3, 3});
    net.held(w).data<float>()[5 * 9] = std::numeric_limits<float>::infinity();
    net.output(net.node(
        "Conv", {"x", w},
        {{"pads", {dilation, dilation, dilation, dilation}}, {"dilations", {dilation, dilation}}}));
    net.check();
  }
}

TEST(Windows, GroupsThatShareBlocks) {
  struct Case {
    Index groups, in, out;
  };
  for (const Case& each : {Case{32, 4, 4},
                           {16, 2, 2},
                           {5, 8, 8},
                           {3, 24, 24},
                           {8, 12, 12},
                           {6, 1, 6},
                           {8, 20, 5},
                           {24, 1, 2},
                           {2, 40, 20}}) {
    Net net({2, each.groups * each.in, 9, 10});
    net.specials = each.in == 4;
    const std::string a = net.convolution("x", {each.groups * each.out, each.in, 3, 3},
                                          {{"pads", {1, 1, 1, 1}}}, each.groups);
    const std::string b =
        net.convolution(a, {7, each.groups * each.out, 1, 1}, {{"strides", {2, 2}}});
    net.output(b);
    net.output(net.node("Relu", {net.node("Add", {a, net.node("Sigmoid", {a})})}));
    net.output(net.convolution("x", {each.groups * each.out, each.in, 3, 3},
                               {{"strides", {2, 2}}, {"dilations", {2, 2}}, {"pads", {2, 2, 2, 2}}},
                               each.groups));
    const std::string c =
        net.convolution("x", {each.groups * each.out, each.in, 1, 1}, {}, each.groups);
    net.output(net.node("Relu", {net.node("Add", {c, a})}));
    net.output(net.convolution("x", {each.groups * each.out, each.in, 2, 1}, {{"strides", {1, 3}}},
                               each.groups));
    const std::string kernels = net.check();
    const Index lanes = lanes_of(chosen_isa());
    const bool whole = each.in % lanes == 0 && each.out % lanes == 0;
    EXPECT_EQ(kernels.find("grouped by") == std::string::npos, whole || each.in > 2 * each.out)
        << kernels;
  }
}

TEST(Windows, GroupsOfOneDimension) {
  Net net({2, 24, 40});
  const std::string a = net.convolution("x", {24, 4, 5}, {{"pads", {2, 2}}}, 6);
  net.output(net.node("Relu", {net.node("Add", {a, "x"})}));
  net.check();
}

TEST(Windows, FiltersOfPaddedImages) {
  using Lists = std::map<std::string, std::vector<Index>>;
  struct Case {
    Shape x, w;
    Lists lists;
  };
  const Lists same{{"pads", {1, 1, 1, 1, 1, 1}}};
  std::vector<Case> cases{
      {{2, 5, 6, 17, 40},
       {13, 5, 3, 3, 3},
       {{"pads", {1, 0, 2, 0, 1, 1}}, {"dilations", {1, 2, 1}}}},
      {{1, 5, 6, 17, 41}, {9, 5, 2, 3, 3}, {{"pads", {1, 1, 1, 0, 1, 1}}, {"strides", {2, 1, 1}}}},
      {{1, 5, 6, 17, 41}, {9, 5, 2, 3, 3}, {{"pads", {1, 1, 1, 0, 1, 1}}, {"strides", {1, 2, 1}}}},
      {{1, 4, 40, 30, 40}, {9, 4, 3, 3, 3}, same}};  // several slabs
  for (const Index filters : {5, 6, 8, 15, 23})
    cases.push_back({{1, 3, 5, 16, 30}, {filters, 3, 3, 3, 3}, same});
  for (const bool special : {false, true}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(text(each.x) + text(each.w));
      Net net(each.x);
      net.specials = special;
      net.overflows = true;  // the judge decides
      net.output(net.convolution("x", each.w, each.lists));
      EXPECT_THAT(net.check(), ::testing::HasSubstr("padded images"));
    }
  }
}

TEST(Windows, GroupsOfThreeDimensions) {
  using Lists = std::map<std::string, std::vector<Index>>;
  struct Case {
    Shape x, w;
    Index groups;
    Lists lists;
  };
  const std::vector<Case> cases{
      {{2, 6, 5, 7, 40}, {6, 1, 3, 3, 3}, 6, {{"pads", {1, 1, 1, 1, 1, 1}}}},
      {{1, 6, 5, 9, 21}, {12, 2, 3, 2, 5}, 3, {{"pads", {2, 0, 1, 0, 1, 3}}}},
      {{1, 4, 6, 9, 21},
       {4, 1, 3, 3, 3},
       4,
       {{"pads", {1, 1, 1, 1, 1, 1}}, {"strides", {1, 2, 2}}}},
      {{1, 4, 6, 9, 40},
       {4, 2, 3, 3, 4},
       2,
       {{"pads", {1, -1, 2, 1, 1, -1}}, {"strides", {2, 1, 3}}, {"dilations", {1, 2, 3}}}},
      {{1, 2, 6, 30, 400}, {2, 1, 3, 3, 3}, 2, {{"pads", {1, 1, 1, 1, 1, 1}}}},  // several slabs
      {{1, 8, 4, 5, 6}, {30, 8, 1, 1, 1}, 1, {}},
      {{1, 8, 4, 5, 6}, {30, 8, 3, 1, 1}, 1, {{"pads", {1, 0, 0, 1, 0, 0}}}},
      {{1, 8, 4, 5, 6}, {30, 4, 1, 1, 1}, 2, {{"pads", {0, 0, 0, 0, 0, 1}}}},
      {{1, 8, 4, 5, 6}, {30, 8, 1, 3, 1}, 1, {{"pads", {0, 1, 0, 0, 0, 0}}}},
  };
  for (const bool special : {false, true}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(text(each.x) + text(each.w));
      Net net(each.x);
      net.specials = special;
      net.output(net.convolution("x", each.w, each.lists, each.groups));
      net.check();
    }
  }
}

// Maps whose rows are narrower than most tiles, beside a halo and strides.
TEST(Windows, NarrowMaps) {
  for (const Index width : {3, 5, 8, 9, 10}) {
    for (const Index rows : {1, 2, 3, 7}) {
      Net net({2, 18, rows, width});
      const std::string a = net.convolution("x", {40, 18, 1, 1});
      net.output(net.convolution(a, {40, 1, 3, 3}, {{"pads", {1, 1, 1, 1}}}, 40));
      const std::string b = net.convolution("x", {33, 18, 3, 3}, {{"pads", {1, 1, 1, 1}}});
      net.output(net.node("Relu", {net.node("Add", {b, net.node("Abs", {b})})}));
      net.output(net.convolution(a, {64, 40, 3, 3}, {{"pads", {1, 1, 1, 1}}, {"strides", {1, 2}}}));
      net.check();
    }
  }
}

// Windows down images of one column, which kernels compute as one row.
TEST(Windows, ImagesOfOneColumn) {
  struct Case {
    Shape x, w;
    Index groups;
    std::map<std::string, std::vector<Index>> lists;
    bool specials = false;
  };
  const std::vector<Case> cases{
      {{2, 20, 61, 1}, {40, 20, 5, 1}, 1, {}},
      {{1, 20, 61, 1}, {40, 20, 5, 1}, 1, {{"pads", {2, 0, 3, 0}}}, true},
      {{1, 20, 40, 1}, {40, 20, 3, 3}, 1, {{"pads", {1, 1, 1, 1}}}, true},
      {{1, 20, 61, 1}, {40, 20, 4, 1}, 1, {{"strides", {3, 1}}, {"dilations", {2, 1}}}},
      {{1, 20, 61, 1}, {40, 20, 5, 1}, 1, {{"dilations", {20, 1}}, {"pads", {40, 0, 40, 0}}}},
      {{2, 3, 61, 1}, {33, 3, 5, 1}, 1, {{"pads", {2, 0, 2, 0}}}},
      {{1, 40, 30, 1}, {40, 1, 3, 1}, 40, {{"pads", {1, 0, 1, 0}}}},
      {{1, 24, 30, 1}, {24, 4, 3, 1}, 6, {{"pads", {1, 0, 1, 0}}}},
      {{1, 64, 30, 1}, {64, 32, 3, 1}, 2, {{"pads", {1, 0, 1, 0}}}},
      {{1, 20, 2, 1}, {40, 20, 2, 1}, 1, {{"pads", {1, 0, 0, 0}}}},
      {{1, 64, 64, 1}, {3, 64, 5, 1}, 1, {{"pads", {2, 0, 2, 0}}}, true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(text(each.x) + text(each.w));
    for (const bool beside : {false, true}) {
      Net net(each.x);
      net.specials = each.specials;
      const std::string a = net.convolution("x", each.w, each.lists, each.groups);
      const std::string b = net.convolution("x", each.w, each.lists, each.groups);
      const std::string sum = net.node("Relu", {net.node("Add", {a, b})});
      net.output(net.node("Add", {sum, net.node("Neg", {sum})}));
      net.output(net.node("Abs", {net.convolution("x", each.w, each.lists, each.groups)}));
      if (beside) {  // windows that read columns of padding on both sides
        const std::map<std::string, std::vector<Index>> wide{{"pads", {0, 1, 0, 2}}};
        net.output(net.convolution("x", {20, each.x[1], 1, 3}, wide));
        net.output(net.convolution(sum, {20, each.w[0], 1, 3}, wide));
      }
      EXPECT_THAT(net.check(), ::testing::Not(::testing::HasSubstr("convolution of patches")));
    }
  }
}

// The same taps of a filter are left, but not of the same weights.
TEST(Windows, ImagesOfOneColumnAndOfOneRowWithTheSameWeights) {
  Net net({1, 20, 30, 1});
  const std::string w = net.constant({40, 20, 3, 3});
  const std::string row = net.node("Reshape", {"x", net.integers({1, 20, 1, 30})});
  net.output(net.node("Conv", {"x", w}, padded));
  net.output(net.node("Conv", {row, w}, padded));
  net.check();
}

TEST(Windows, TransposedOfOneFilter) {
  Net net({1, 20, 6, 7});
  net.output(net.node("ConvTranspose", {"x", net.constant({20, 1, 5, 5})},
                      {{"strides", {3, 3}}, {"pads", {2, 2, 2, 2}}, {"output_padding", {2, 1}}}));
  net.check();
}

TEST(Windows, TransposedOfGroupsAndOfThreeDimensions) {
  struct Case {
    Shape x, w;
    Index groups;
    std::map<std::string, std::vector<Index>> lists;
  };
  const std::vector<Case> cases{
      {{2, 12, 9, 11}, {12, 5, 4, 4}, 4, {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}}},
      {{1, 12, 9, 11}, {12, 5, 3, 2}, 3, {{"strides", {1, 3}}, {"dilations", {2, 2}}}},
      {{1, 6, 5, 300}, {6, 2, 3, 3}, 2, {{"strides", {2, 2}}, {"pads", {1, 2, 0, 3}}}},
      {{1, 4, 7, 6}, {4, 3, 1, 1}, 2, {{"strides", {3, 4}}, {"output_padding", {2, 3}}}},
      {{1, 4, 3, 2}, {4, 2, 2, 2}, 2, {{"strides", {2, 90}}, {"pads", {0, 1, 0, 70}}}},
      {{1, 4, 5, 6}, {4, 2, 3, 3}, 2, {{"pads", {2, 2, 2, 2}}}},
      {{1, 1040, 1, 1}, {1040, 20, 4, 4}, 2, {}},                  // several shares of the channels
      {{1, 4, 200, 180}, {4, 2, 4, 4}, 2, {{"strides", {2, 2}}}},  // too large to be split
      {{1, 8, 1, 1, 1}, {8, 6, 4, 4, 4}, 1, {}},
      {{2, 8, 3, 4, 5}, {8, 7, 4, 3, 2}, 1, {{"strides", {2, 1, 2}}, {"pads", {1, 0, 1, 1, 2, 0}}}},
      {{1, 6, 4, 4, 4}, {6, 2, 3, 3, 3}, 3, {{"strides", {2, 2, 3}}, {"dilations", {1, 2, 2}}}},
      {{1, 6, 40}, {6, 4, 16}, 2, {{"strides", {8}}, {"pads", {4, 4}}}},
  };
  for (const bool special : {false, true}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(text(each.x) + text(each.w));
      Net net(each.x);
      net.specials = special;
      const std::string bias = net.constant({each.w[1] * each.groups});
      const auto transposed = [&](const std::string& w) {
        return net.node("ConvTranspose", {"x", w, bias}, each.lists, {{"group", each.groups}});
      };
      const std::string w = net.constant(each.w);
      net.output(transposed(w));
      // The same weights, which are not constant.
      const std::string some = net.node("ReduceMax", {"x"}, {}, {{"keepdims", 0}});
      net.output(transposed(net.node("Where", {net.node("IsNaN", {some}), w, w})));
      net.check();
    }
  }
}

TEST(Windows, PatchesThatNeitherOverlapNorReadPadding) {
  struct Case {
    Shape x, weights;
    std::vector<Index> strides;
    bool specials = false;
  };
  for (const Case& each : {Case{{2, 5, 33, 40}, {40, 5, 8, 8}, {8, 8}},
                           {{2, 16, 17, 20}, {70, 16, 4, 4}, {4, 4}, true},
                           {{1, 15, 30, 29}, {33, 15, 5, 4}, {6, 7}},
                           {{2, 3, 16, 16}, {7, 3, 16, 16}, {1, 1}},  // one window
                           {{3, 20, 70}, {5, 20, 16}, {16}},
                           {{2, 3, 4, 9, 13}, {20, 3, 2, 4, 4}, {2, 4, 4}},
                           {{2, 18, 5, 6, 7}, {20, 18, 1, 1, 1}, {2, 2, 2}},
                           {{1, 4, 270, 270}, {3, 4, 8, 8}, {8, 8}}}) {  // several slabs
    Net net(each.x);
    net.specials = each.specials;
    const std::string y = net.convolution("x", each.weights, {{"strides", each.strides}});
    net.output(net.node("Relu", {y}));
    net.output(net.node("Conv", {"x", net.constant(each.weights)}, {{"strides", each.strides}}));
    EXPECT_THAT(net.check(), ::testing::HasSubstr("matmul of patches")) << text(each.weights);
  }
}

TEST(Windows, PoolsOfWholeImagesOfAnyRank) {
  for (const Shape& x : {Shape{2, 3, 3, 9, 7}, {1, 5, 2, 1, 3}, {2, 3, 2, 2, 3, 2}}) {
    for (const bool specials : {false, true}) {
      Net net(x);
      net.specials = specials;
      net.overflows = true;  // the judge decides on roots
      net.output(net.node("GlobalAveragePool", {"x"}));
      net.output(net.node("GlobalMaxPool", {"x"}));
      for (const Index p : {1, 2, 3}) net.output(net.node("GlobalLpPool", {"x"}, {}, {{"p", p}}));
      EXPECT_THAT(net.check(), ::testing::HasSubstr("pool of images"));
    }
  }
}

// Planes of channel blocks, one behind another; by Winograd, where rows and columns allow it.
TEST(Windows, VolumesOfChannels) {
  struct Case {
    Shape x, weights;
    std::map<std::string, std::vector<Index>> lists = {};
    bool specials = false;
  };
  for (const Case& each :
       {Case{{1, 16, 4, 5, 7}, {17, 16, 3, 3, 3}},
        {{2, 12, 3, 5, 6}, {16, 12, 2, 3, 3}, {{"pads", {1, 1, 1, 1, 1, 1}}}},
        {{1, 32, 2, 14, 28}, {32, 32, 2, 3, 3}, {{"pads", {1, 1, 1, 0, 1, 1}}}, true},
        {{1, 29, 7, 9, 8},
         {33, 29, 2, 3, 1},
         {{"strides", {2, 2, 1}}, {"pads", {1, 0, 2, 0, 1, 1}}}},
        {{1, 16, 9, 5, 5},
         {17, 16, 1, 1, 1},
         {{"strides", {3, 2, 2}}, {"pads", {0, 1, 0, 0, 0, 1}}}},
        {{1, 16, 3, 8, 9}, {16, 16, 1, 3, 2}, {{"dilations", {1, 2, 3}}}, true},
        {{1, 16, 4, 1, 1}, {16, 16, 3, 1, 1}, {{"pads", {3, 0, 0, 2, 0, 0}}}},
        {{1, 16, 3, 300, 290}, {16, 16, 2, 1, 2}, {{"strides", {1, 4, 4}}}}}) {  // several slabs
    Net net(each.x);
    net.specials = each.specials;
    net.output(net.node("Relu", {net.convolution("x", each.weights, each.lists)}));
    net.output(net.node("Conv", {"x", net.constant(each.weights)}, each.lists));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::HasSubstr("convolution of planes")) << text(each.weights);
    const bool tiles = chosen_isa() != Isa::sse41 && each.weights[0] == 32;
    EXPECT_EQ(kernels.find("winograd") != std::string::npos, tiles) << kernels;
  }
}

// An infinite weight makes NaN of padding's zeros.
TEST(Windows, VolumesOfInfiniteWeightsAreSummedTermByTerm) {
  Net net({1, 16, 3, 4, 5});
  const std::string w = net.constant({16, 16, 3, 3, 3});
  net.held(w).data<float>()[7] = std::numeric_limits<float>::infinity();
  net.output(net.node("Conv", {"x", w}, {{"pads", {1, 1, 1, 1, 1, 1}}}));
  EXPECT_THAT(net.check(), ::testing::Not(::testing::HasSubstr("convolution of planes")));
}

}  // namespace
}  // namespace touchstone::optimized
