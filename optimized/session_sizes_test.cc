// Tests kernels of every kind at sizes where vectors, tiles and blocks end unevenly. Each net runs
// with memory next to inaccessible pages (Net::check).
#include <gmock/gmock.h>
#include "optimized/registry/isa.h"

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

TEST(Sizes, PointwiseOfEveryLength) {
  for (const Index length : {1, 2, 3, 5, 7, 9, 15, 17, 31, 33, 63, 65, 8193}) {
    Net net({3, length});
    const std::string a = net.node("Mul", {"x", net.constant({length})});
    const std::string b = net.node("Add", {a, net.constant({3, 1})});
    net.output(net.node("Sub", {net.node("Neg", {b}), net.node("Abs", {"x"})}));
    net.output(net.node("Sub", {net.constant({1}), "x"}));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  }
}

TEST(Sizes, ReductionsAlongEverySide) {
  for (const Index length : {1, 3, 15, 17, 33}) {
    Net net({5, length, 7});
    for (const Index axis : {0, 1, 2}) {
      net.output(net.node("ReduceMax", {"x", net.integers({axis})}));
      net.output(net.node("ReduceSum", {"x", net.integers({axis})}));
    }
    net.output(net.node("ReduceMin", {"x", net.integers({0, 2})}));
    net.check();
  }
}

TEST(Sizes, ProductsOfEverySize) {
  for (const Index rows : {1, 2, 5, 7, 12, 13, 29}) {
    for (const Index columns : {1, 8, 31, 33}) {
      Net net({rows, 11});
      net.output(net.node("MatMul", {"x", net.constant({11, columns})}));
      net.output(net.node("Gemm", {"x", net.constant({columns, 11}), net.constant({columns})}, {},
                          {{"transB", 1}}));
      const std::string kernels = net.check();
      EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
    }
  }
}

// The matrix is not packed for one row, but for two.
TEST(Sizes, ProductsOfARow) {
  for (const Index rows : {1, 2}) {
    Net net({rows, 1027});
    const std::string some = net.node("Gemm", {"x", net.constant({530, 1027}), net.constant({530})},
                                      {}, {{"transB", 1}});
    net.output(net.node("Relu", {some}));
    net.output(net.node("Gemm", {"x", net.constant({511, 1027})}, {}, {{"transB", 1}}));
    const std::string kernels = net.check();
    EXPECT_EQ(kernels.find("matrix-vector") != std::string::npos, rows == 1) << kernels;
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  }
}

TEST(Sizes, ConvolutionsOfEveryWidth) {
  for (const Index width : {1, 2, 5, 9, 13, 15, 16, 17, 30}) {
    Net net({2, 19, 3, width});
    const std::string point = net.convolution("x", {33, 19, 1, 1});
    net.output(point);
    net.output(net.convolution("x", {7, 19, 3, 3}, padded));
    net.output(net.convolution("x", {19, 1, 3, 3}, padded, 19));
    net.output(
        net.convolution("x", {19, 1, 5, 1}, {{"pads", {2, 0, 2, 0}}, {"strides", {2, 1}}}, 19));
    net.output(net.convolution(point, {17, 33, 1, 1}, {{"strides", {2, 2}}}));
    net.check();
  }
}

TEST(Sizes, PlainImagesWithAndWithoutPadding) {
  for (const Index channels : {1, 3, 4}) {
    for (const Index width : {3, 8, 16, 19}) {
      Net net({2, channels, 7, width});
      net.output(net.convolution("x", {9, channels, 3, 3}));
      net.output(net.convolution("x", {16, channels, 7, 3},
                                 {{"pads", {3, 1, 3, 1}}, {"strides", {2, 2}}}));
      net.output(net.convolution("x", {24, channels, 1, 1}));
      net.check();
    }
  }
}

TEST(Sizes, WinogradAndNarrowConvolutions) {
  Net net({1, 33, 15, 22});
  const std::string a = net.convolution("x", {40, 33, 3, 3}, padded);
  net.output(net.node("Add", {net.convolution(a, {40, 40, 3, 3}, padded), a}));
  Net few({1, 24, 40, 64});
  few.output(few.convolution("x", {3, 24, 5, 5}, {{"pads", {2, 2, 2, 2}}}));
  const std::string tiles = net.check(), shared = few.check();
  if (chosen_isa() == Isa::sse41) return;  // it has neither kernel
  EXPECT_THAT(tiles, ::testing::HasSubstr("winograd")) << tiles;
  EXPECT_THAT(shared, ::testing::HasSubstr("narrow")) << shared;
}

TEST(Sizes, PoolsOfEveryWindow) {
  for (const Index width : {5, 8, 13}) {
    Net net({2, 21, 6, width});
    for (const Index side : {2, 3, 5}) {
      const std::map<std::string, std::vector<Index>> window{
          {"kernel_shape", {side, side}}, {"strides", {2, 2}}, {"pads", {1, 0, 1, 1}}};
      net.output(net.node("MaxPool", {"x"}, window));
      net.output(net.node("AveragePool", {"x"}, {{"kernel_shape", {2, 4}}, {"strides", {1, 3}}}));
    }
    net.output(net.node("GlobalMaxPool", {"x"}));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  }
}

TEST(Sizes, MovesOfEveryLength) {
  for (const Index length : {1, 3, 7, 9, 17, 31, 33}) {
    Net net({3, 5, length});
    for (const std::vector<Index>& order :
         {std::vector<Index>{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}})
      net.output(net.node("Transpose", {"x"}, {{"perm", order}}));
    net.output(net.node("Pad", {"x", net.integers({0, 1, 2, 1, 0, 3})}));
    net.output(net.node("Concat", {"x", "x"}, {}, {{"axis", 2}}));
    net.check();
  }
}

TEST(Sizes, MatricesOfFewColumns) {
  for (const Index columns : {1, 2, 3, 4, 7, 8, 12, 13, 16, 20}) {
    for (const Index depth : {1, 4, 65}) {
      for (const Index rows : {5, 8, 37, 600}) {
        Net net({2, rows, depth});
        net.specials = depth == 4;
        const std::string y = net.node("MatMul", {"x", net.constant({depth, columns})});
        net.output(y);
        const std::string flat = net.node("Reshape", {"x", net.integers({-1, depth})});
        net.output(net.node(
            "Relu",
            {net.node("Gemm", {flat, net.constant({columns, depth}), net.constant({columns})}, {},
                      {{"transB", 1}})}));
        const std::string kernels = net.check();
        const Index most = chosen_isa() == Isa::sse41 ? 8 : 16;
        EXPECT_EQ(kernels.find("few columns") != std::string::npos, columns <= most && rows >= 8)
            << kernels;
      }
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
