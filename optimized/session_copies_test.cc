// Tests data movement in sessions: joins, repetitions and moves give the reference's bits on every
// instruction set.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

TEST(Session, JoinedMapsAndWhatFollows) {
  Net net({1, 3, 6, 6});
  const std::string a = net.convolution("x", {32, 3, 1, 1}),
                    b = net.convolution("x", {16, 3, 3, 3}, padded);
  const std::string c = net.convolution("x", {5, 3, 1, 1});
  const std::string all = net.node("Concat", {a, b, c}, {}, {{"axis", 1}});
  net.output(net.convolution(all, {4, 53, 3, 3}, padded));
  net.output(net.node("Concat", {c, a}, {}, {{"axis", 1}}));  // begins inside of a block
  net.check();
}

TEST(Session, MapsThatGrowByJoinsAreMadeInPlace) {
  Net net({2, 3, 6, 6});
  std::vector<std::string> maps{net.convolution("x", {16, 3, 3, 3}, padded)};
  std::string all = maps[0];
  for (int k = 0; k < 3; ++k) {
    const std::string scaled = net.node("Mul", {all, net.constant({(k + 1) * 16, 1, 1})});
    maps.push_back(net.convolution(net.node("Relu", {scaled}), {16, (k + 1) * 16, 1, 1}));
    all = net.node("Concat", maps, {}, {{"axis", 1}});
  }
  net.output(net.convolution(all, {8, 64, 3, 3}, padded));  // needs a halo around all of them
  net.output(net.node("Concat", {maps[1], maps[0], maps[1]}, {}, {{"axis", 1}}));
  net.output(maps[2]);
  net.check();
}

TEST(Session, JoinsMayBeginInsideOfABlock) {
  Net net({2, 3, 6, 7});
  std::vector<std::string> maps;
  for (const Index channels : {5, 24, 3, 16, 7})
    maps.push_back(net.convolution("x", {channels, 3, 3, 3}, padded));
  const std::string all = net.node("Concat", maps, {}, {{"axis", 1}});
  net.output(net.convolution(all, {4, 55, 3, 3}, padded));
  net.output(net.node("Concat", {maps[2], maps[0], maps[2]}, {}, {{"axis", 1}}));
  net.output(maps[0]);  // its last block also holds channels of others
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("strided copy"))) << kernels;
}

TEST(Session, ElementsAreRepeatedInBlocks) {
  Net net({2, 3, 5, 4});
  const auto grown = [&](const std::string& v, std::vector<Index> sizes) {
    const std::string made = net.node("Resize", {v, "", "", net.integers(std::move(sizes))});
    net.words("mode", "nearest");
    return made;
  };
  const std::string a = net.convolution("x", {20, 3, 3, 3}, padded);
  const std::string b = grown(a, {2, 20, 10, 12});
  net.output(net.convolution(b, {4, 20, 3, 3}, padded));
  net.output(net.node("Concat", {b, grown(a, {2, 20, 10, 12})}, {}, {{"axis", 1}}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("resample"))) << kernels;
  net.output(grown(a, {2, 20, 8, 4}));  // not all are repeated equally often
  net.output(grown(a, {2, 20, 5, 2}));  // some are dropped
  EXPECT_THAT(net.check(), ::testing::HasSubstr("resample"));
}

TEST(Session, ScalesRepeatElementsWhereTheNearestOnesAre) {
  Net net({1, 3, 5, 4});
  const auto grown = [&](const std::string& v, const std::vector<float>& scales,
                         const std::string& nearest) {
    const std::string made = net.node("Resize", {v, "", net.reals(scales)});
    net.words("mode", "nearest");
    net.words("coordinate_transformation_mode", "asymmetric");
    net.words("nearest_mode", nearest);
    return made;
  };
  const std::string a = net.convolution("x", {20, 3, 3, 3}, padded);
  net.output(net.convolution(grown(a, {1, 1, 2, 3}, "floor"), {4, 20, 3, 3}, padded));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("resample"))) << kernels;
  net.output(grown(a, {1, 1, 2, 2}, "ceil"));  // the same size, but other elements
  EXPECT_THAT(net.check(), ::testing::HasSubstr("resample"));
}

TEST(Session, MovesAreWhatTheReferenceSaysOfThem) {
  Net net({2, 3, 5, 6});
  const auto list = [&](std::vector<Index> items) { return net.integers(std::move(items)); };
  const std::string turned = net.node("Transpose", {"x"}, {{"perm", {0, 3, 1, 2}}});
  net.output(turned);
  net.output(net.node("Slice", {"x", list({4, -1}), list({-10, 0}), list({2, 3}), list({-2, -1})}));
  net.output(net.node("Pad", {"x", list({0, 1, 0, 2, 0, 0, 3, 0})}));
  net.output(net.node("Pad", {"x", list({0, 0, -1, 0, 0, 0, 0, 1}), net.constant({})}));
  net.output(net.node("Concat", {turned, turned, net.constant({2, 6, 3, 1})}, {}, {{"axis", -1}}));
  net.output(net.node("Tile", {"x", list({1, 2, 1, 3})}));
  net.output(net.node(
      "Expand", {net.node("Slice", {"x", list({0}), list({1}), list({0})}), list({4, 3, 5, 6})}));
  net.output(net.node("Gather", {"x", list({5, 0, -1, 2})}, {}, {{"axis", 3}}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  EXPECT_THAT(kernels, ::testing::HasSubstr("strided copy")) << kernels;
}

TEST(Session, PadsByAttributesFillWithTheirValue) {
  for (const float value : {0.0F, -std::numeric_limits<float>::infinity(), 1.5F}) {
    Net net({2, 3, 5, 6});
    net.opset(9);
    for (const std::vector<Index>& pads : std::vector<std::vector<Index>>{
             {0, 0, 1, 2, 0, 0, 3, 0}, {0, 1, -2, 0, 1, 0, 0, -3}, {0, 0, -5, 0, 0, 0, 0, 0}}) {
      net.output(net.node("Pad", {"x"}, {{"pads", pads}}));
      net.real("value", value);
    }
    EXPECT_THAT(net.check(), ::testing::Not(::testing::HasSubstr("reference")));
  }
}

TEST(Session, DimensionsThatAreReadByThemselves) {
  Net net({2, 7, 9, 5});
  const auto list = [&](std::vector<Index> items) { return net.integers(std::move(items)); };
  const auto pad = [&](const std::string& v, std::vector<Index> pads, const std::string& mode) {
    const std::string made = net.node("Pad", {v, list(std::move(pads))});
    net.words("mode", mode);
    return made;
  };
  net.output(pad("x", {0, 0, 6, 3, 0, 0, 4, 4}, "reflect"));  // reflection needs an extent above 1
  net.output(pad("x", {1, 0, 0, 9, 0, 2, 0, 0}, "edge"));
  net.output(net.node("Pad", {"x", list({0, -2, 3, 0, 1, 0, -1, 2}), net.constant({})}));
  // A small input would leave nothing.
  const std::string middle = net.node("Slice", {"x", list({3, 5}), list({6, 9}), list({1, 2})});
  net.output(middle);
  net.output(net.node("Slice", {"x", list({-2}), list({-7}), list({2}), list({-2})}));
  net.output(net.node("Pad", {middle, list({0, 3, 5, 0, 0, 1, 0, 0})}));
  const std::string flat = net.node("Slice", {"x", list({4}), list({5}), list({3})});
  net.output(net.node("Transpose", {flat}, {{"perm", {3, 1, 0, 2}}}));
  net.output(net.node("Concat", {flat, flat, "x"}, {}, {{"axis", 3}}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
}

TEST(Session, ScattersThatComputeAreNoMoves) {
  Net net({4, 3});
  const std::string rows = net.integers({1, 1, 2}, {1, 3});
  net.output(net.node("ScatterElements", {"x", rows, net.constant({1, 3})}));
  std::string summed = net.node("ScatterElements", {"x", rows, net.constant({1, 3})});
  net.words("reduction", "add");
  net.output(summed);
  summed = net.node("ScatterElements", {"x", rows, net.constant({1, 3})});
  net.words("reduction", "max");
  net.output(summed);
  net.check();
}

// A node that inspects element values is no data movement, even if none of the probed names reveals
// it.
TEST(DataMovement, WhatLooksAtElementsIsNoMove) {
  for (const float index : {0.0F, 1.0F}) {
    Net net({1});
    net.plant = [&](Tensor& x) { x.data<float>()[0] = index; };
    net.output(net.node("OneHot", {"x", net.integers({1}), net.reals({0, 5})}));
    net.check();
  }
}

}  // namespace
}  // namespace touchstone::optimized
