// Tests convolutions and pools of 8-bit integers against the reference, bit for bit.
#include "optimized/lowering/flow_testing.h"
#include "optimized/lowering/integer_testing.h"

namespace touchstone::optimized {
namespace {

TEST(IntegerConvolution, WindowsGroupsAndTypes) {
  struct Case {
    Shape x, w;
    Index group = 1;
    std::vector<Index> pads = {}, strides = {}, dilations = {};
    std::string padding = "NOTSET";
  };
  const Case cases[] = {
      {{2, 5, 9, 11}, {7, 5, 1, 1}},
      {{1, 4, 7, 7}, {8, 4, 3, 3}, 1, {1, 1, 1, 1}},
      {{1, 4, 20, 23}, {6, 2, 3, 5}, 2, {2, 0, 1, 3}, {2, 1}},
      {{2, 6, 10, 10}, {6, 1, 3, 3}, 6, {1, 1, 1, 1}, {2, 2}},
      {{1, 3, 12, 9}, {4, 3, 2, 3}, 1, {}, {1, 3}, {3, 2}},
      {{1, 3, 30}, {5, 3, 4}, 1, {}, {2}, {}, "SAME_UPPER"},
      {{1, 2, 31}, {5, 2, 4}, 1, {}, {}, {}, "SAME_LOWER"},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, 1, {1, 0, 1, 0, 2, 1}},
      {{3, 4}, {5, 4}},
      {{1, 2, 6, 6}, {3, 2, 3, 3}, 1, {-1, 0, 2, -1}},
      {{1, 16, 6, 70}, {70, 16, 1, 1}, 1, {}, {2, 2}},
      {{1, 5, 14, 14}, {9, 5, 3, 3}, 1, {1, 1, 1, 1}},
      {{1, 6, 30, 41}, {7, 6, 3, 3}, 1, {1, 1, 1, 1}, {2, 2}},
      {{2, 7, 9, 40}, {7, 1, 3, 3}, 7, {1, 1, 1, 1}},
      {{1, 6, 21, 33}, {6, 1, 5, 5}, 6, {2, 2, 2, 2}, {2, 2}},
      {{1, 5, 12, 70}, {5, 1, 3, 2}, 5, {0, 1, 2, 0}, {1, 3}, {2, 1}},
      {{1, 9, 4, 5, 6}, {9, 1, 2, 3, 3}, 9, {1, 0, 1, 0, 1, 1}},
      {{1, 4, 10, 10}, {8, 1, 3, 3}, 4, {1, 1, 1, 1}},
      {{2, 64, 9, 12}, {40, 64, 3, 3}, 1, {1, 1, 1, 1}},
      {{1, 100, 10, 11}, {70, 50, 1, 1}, 2, {}, {2, 1}},
  };
  unsigned seed = 100;
  for (const Case& c : cases) {
    for (const bool rounded : {false, true}) {
      const Type x = bytes[++seed % 2], w = bytes[seed / 2 % 2];
      const Index filters = c.w[0];
      const NodeInput image{drawn(x, c.x, seed)}, weights{drawn(w, c.w, seed + 1), seed % 3 != 0};
      const NodeInput x_zero{drawn(x, {}, 7)},
          w_zero{drawn(w, rounded ? Shape{filters} : Shape{}, 8)};
      OneNode node = rounded ? OneNode("QLinearConv", {image,
                                                       {scales({})},
                                                       x_zero,
                                                       weights,
                                                       {scales({filters})},
                                                       w_zero,
                                                       {scales({})},
                                                       {drawn(bytes[seed / 4 % 2], {}, 9)},
                                                       {drawn(Type::int32, {filters}, 10)}})
                             : OneNode("ConvInteger", {image, weights, x_zero, w_zero});
      if (!c.pads.empty()) node.list("pads", c.pads);
      if (!c.strides.empty()) node.list("strides", c.strides);
      if (!c.dilations.empty()) node.list("dilations", c.dilations);
      node.number("group", c.group).word("auto_pad", c.padding);
      SCOPED_TRACE(text(c.x) + text(c.w));
      node.is_fast();
    }
  }
}

// Filters of 8 bits without zero points, for each channel and for all, and biases of any size.
TEST(IntegerConvolution, FiltersWithoutZeroPoints) {
  unsigned seed = 300;
  for (const Shape& w : {Shape{8, 1, 3, 3}, Shape{10, 8, 3, 3}, Shape{66, 8, 1, 1}}) {
    for (const Type type : bytes) {
      for (const Index stride : {1, 2}) {
        for (const std::int32_t large : {0, 2147483647, -2147483647}) {
          Tensor bias = drawn(Type::int32, {w[0]}, ++seed);
          if (large != 0) bias.data<std::int32_t>()[w[0] / 2] = large;
          OneNode node("QLinearConv", {{drawn(type, {1, 8, 11, 13}, seed)},
                                       {scales({})},
                                       {drawn(type, {}, seed + 1)},
                                       {drawn(Type::int8, w, seed + 2), true},
                                       {scales({w[0]})},
                                       {Tensor(Type::int8, {}), true},
                                       {scales({})},
                                       {drawn(bytes[seed % 2], {}, seed + 3)},
                                       {bias}});
          node.number("group", w[1] == 1 ? 8 : 1).list("pads", {1, 1, 1, 1});
          node.list("strides", {stride, stride});
          SCOPED_TRACE(text(w));
          if (large == 0 || w[1] != 1) {
            node.is_fast();
          } else {
            node.check();
          }
        }
      }
    }
  }
}

TEST(IntegerConvolution, ScalesThatAreNotFinite) {
  for (const float special : {0.0F, std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(), -0.5F}) {
    for (const Index group : {1, 4}) {
      Tensor scale(Type::float32, {});
      *scale.data<float>() = special;
      OneNode node("QLinearConv", {{drawn(Type::uint8, {1, 4, 6, 6}, 1)},
                                   {scales({})},
                                   {drawn(Type::uint8, {}, 2)},
                                   {drawn(Type::int8, {4, 4 / group, 2, 2}, 3), true},
                                   {scales({})},
                                   {Tensor(Type::int8, {}), true},
                                   {scale},
                                   {drawn(Type::int8, {}, 4)}});
      node.number("group", group).is_fast();
    }
  }
}

// The number of scales is known in the run alone, and changes between runs of one plan.
TEST(IntegerConvolution, ScalesThatDoNotFitInALaterRun) {
  flow::Build build;
  build.node("Compress", {"all", "which"}, {"scale"}, {{"axis", flow::integer(0)}})
      .node("QLinearConv", {"x", "one", "zero", "w", "scale", "zero", "one", "zero"}, {"y"})
      .out("y");
  build.hold("w", drawn(Type::uint8, {40, 4, 2, 2}, 1)).hold("zero", drawn(Type::uint8, {}, 2));
  build.hold("one", scales({}));
  std::vector<flow::Feeds> all;
  for (const Index count : {40, 3, 0, 1, 40}) {
    std::vector<Index> which(64, 0);
    std::fill_n(which.begin(), count, 1);
    all.push_back({{"x", drawn(Type::uint8, {1, 4, 5, 5}, 3)},
                   {"all", scales({64})},
                   {"which", flow::numbers(Type::boolean, {64}, which)}});
  }
  flow::same(flow::model_of(build, all[0]), all);
}

TEST(IntegerPools, LargestBytesOfWindows) {
  unsigned seed = 400;
  for (const Type type : bytes) {
    for (const Index stride : {1, 2, 3}) {
      for (const Index pad : {0, 1}) {
        const NodeInput x{drawn(type, {2, 3, 9, 37}, ++seed)};
        OneNode("MaxPool", {x})
            .list("kernel_shape", {3, 3})
            .list("strides", {stride, stride})
            .list("pads", {pad, pad, pad, pad})
            .is_fast();
        OneNode("MaxPool", {x}, 2)
            .list("kernel_shape", {2, 3})
            .list("strides", {1, stride})
            .list("dilations", {2, 1})
            .is_fast();
      }
    }
    OneNode("MaxPool", {{drawn(type, {1, 2, 40}, ++seed)}}).list("kernel_shape", {2}).is_fast();
    // Planes of few and of many bytes, rows beyond the last window, and windows that exceed it.
    for (const Index side : {1, 5, 16, 40, 300}) {
      OneNode("MaxPool", {{drawn(type, {1, 3, side, side + 1}, ++seed)}})
          .list("kernel_shape", {5, 3})
          .list("strides", {3, 2})
          .list("pads", {2, 1, 3, 1})
          .list("dilations", {1, 1})
          .is_fast();
      OneNode("MaxPool", {{drawn(type, {2, 1, side, side}, ++seed)}})
          .list("kernel_shape", {3, 3})
          .list("strides", {2, 2})
          .list("pads", {0, 0, 2, 2})
          .list("dilations", {1, 1})
          .is_fast();
    }
  }
}

TEST(IntegerConvolution, FarApartWindowsRunOnTheReference) {
  OneNode node("ConvInteger",
               {{drawn(Type::uint8, {1, 1, 1}, 1)}, {drawn(Type::int8, {1, 1, 2}, 2)}});
  node.list("pads", {1 << 30, 0}).list("dilations", {1 << 30});
  EXPECT_THAT(node.check(), ::testing::HasSubstr("reference"));
}

}  // namespace
}  // namespace touchstone::optimized
