// Tests models in which every value is quantized and dequantized: they must run on the kernels of
// their float32 counterparts. Scales are powers of two, so that sums are exact and ties occur.
#include <gmock/gmock.h>
#include "core/numbers/convert.h"

#include "optimized/plan/parts.h"
#include "optimized/testing.h"

namespace touchstone {
namespace {

Tensor number(Type type, long double value) {
  Tensor made(type, {});
  set_number(made, 0, value);
  return made;
}

Tensor drawn(Type type, Shape shape, unsigned seed) {
  const Tensor from = whole(shape, seed);
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k) set_number(made, k, from.data<float>()[k]);
  return made;
}

Tensor scales(Index count) {
  Tensor made(Type::float32, {count});
  for (Index k = 0; k < count; ++k) made.data<float>()[k] = k % 2 == 0 ? 0.5F : 0.25F;
  return made;
}

class Quantised : public Net {
 public:
  using Net::Net;

  // Quantizes with one scale, then dequantizes.
  std::string rounded(const std::string& x, Type type, float scale, int zero) {
    const std::string s = held(number(Type::float32, scale)), z = held(number(type, zero));
    return node("DequantizeLinear", {node("QuantizeLinear", {x, s, z}), s, z});
  }
  // Convolves with int8 weights that have a scale per output channel, and an int32 bias.
  std::string convolved(const std::string& x, Shape weights) {
    const Index channels = weights[0];
    const std::string s = held(scales(channels));
    const std::string w = held(drawn(Type::int8, std::move(weights), ++seed_of_weights_));
    const std::string b = held(drawn(Type::int32, {channels}, ++seed_of_weights_));
    return node("Conv",
                {x, node("DequantizeLinear", {w, s}, {}, {{"axis", 0}}),
                 node("DequantizeLinear", {b, s}, {}, {{"axis", 0}})},
                padded);
  }

 private:
  unsigned seed_of_weights_ = 1000;
};

constexpr Type all_types[] = {Type::uint8, Type::int8,  Type::uint16,
                              Type::int16, Type::uint4, Type::int4};

TEST(Session, QuantisedConvolutionsRunAsConvolutionsOfFloats) {
  for (const Type type : all_types) {
    Quantised net({1, 5, 9, 7});
    const int zero = facts(type).name[0] == 'u' ? 3 : -2;
    const std::string x = net.rounded("x", type, 0.5F, zero);
    const std::string a = net.rounded(net.convolved(x, {24, 5, 3, 3}), type, 2, zero);
    const std::string b = net.rounded(net.convolved(a, {24, 24, 3, 3}), type, 4, zero);
    const std::string sum = net.rounded(net.node("Add", {b, a}), type, 4, zero);
    net.output(net.node("MaxPool", {net.node("Relu", {sum})}, {{"kernel_shape", {2, 2}}}));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("row kernel"))) << kernels;
    // All but the first, which reads the feed, must be fused into a convolution.
    EXPECT_EQ(kernels.find("pointwise"), kernels.rfind("pointwise")) << kernels;
  }
}

TEST(Session, QuantisedProductsRunAsProductsOfFloats) {
  Quantised net({3, 40});
  const std::string x = net.rounded("x", Type::int8, 0.5F, 0);
  const std::string w = net.held(drawn(Type::int8, {40, 24}, 7));
  const std::string y = net.node(
      "MatMul", {x, net.node("DequantizeLinear", {w, net.held(scales(24))}, {}, {{"axis", 1}})});
  net.output(net.rounded(y, Type::uint8, 2, 128));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
}

TEST(Session, WhatIsSaturatedInfiniteOrFarAwayIsRoundedToTheEnds) {
  Quantised net({6});
  net.output(net.rounded("x", Type::uint8, 0.5F, 7));
  Session session(net.model());
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tensor x(Type::float32, {6});
  const std::array<float, 6> given{infinity, -infinity, 3e38F, -3e38F, 0.25F, 0.75F};
  std::copy(given.begin(), given.end(), x.data<float>());
  const std::map<std::string, Value> made = session.run({{"x", x}});
  const float* y = made.begin()->second.tensor().data<float>();
  EXPECT_EQ(std::vector<float>(y, y + 6), (std::vector<float>{124, -3.5F, 124, -3.5F, 0, 1}));
}

// One scale per channel of an activation is not a rounding grid, so the nodes stay as they are.
TEST(Session, ActivationsWithAScaleForEachChannel) {
  Quantised net({2, 4, 3, 3});
  const std::string s = net.held(scales(4));
  const std::string q = net.node("QuantizeLinear", {"x", s}, {}, {{"axis", 1}});
  net.output(net.node("DequantizeLinear", {q, s}, {}, {{"axis", 1}}));
  net.check();
}

TEST(Session, WeightsThatNodesFillAreConstant) {
  Net net({1, 600, 2, 2});
  const std::string filled = net.node("ConstantOfShape", {net.integers({600, 600, 1, 1})});
  const std::string one = net.held(number(Type::float32, 1));
  const std::string w = net.node("Expand", {one, net.integers({600, 600})});
  const std::string a = net.node("Conv", {"x", net.node("Add", {filled, one})});
  const std::string b = net.node("Reshape", {a, net.integers({1, 4, 600})});
  net.output(net.node("MatMul", {b, w}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("fed"))) << kernels;
}

// Returns the fused parts of the pointwise nodes after "x".
std::vector<Part> parts(const Net& net) {
  const Model model = net.model();
  const AnalyzedGraph graph(model, {{"x", {2, 3}}}, Limits::trusted());
  return parts_of(graph, grow_from_node(graph, 0, std::vector<bool>(graph.nodes().size())));
}

TEST(Session, RoundingToAGridIsOneKernel) {
  for (const bool divides : {true, false}) {
    for (const bool times : {true, false}) {
      Net net({2, 3});
      const auto real = [&](float value) { return net.held(number(Type::float32, value)); };
      std::string v = divides ? net.node("Div", {"x", real(0.5F)}) : "x";
      v = net.node("Clip", {net.node("Round", {v}), real(-2), real(3)});
      net.output(times ? net.node("Mul", {real(0.25F), v}) : net.node("Neg", {v}));
      net.check();
      const std::vector<Part> made = parts(net);
      ASSERT_EQ(made.size(), times ? 1U : 2U);
      ASSERT_TRUE(made[0].grid.has_value());
      EXPECT_EQ(made[0].grid->divisor, divides ? std::optional(0.5F) : std::nullopt);
      EXPECT_EQ(made[0].grid->factor, times ? 0.25F : 1);
    }
  }
}

TEST(Session, RoundingThatAnotherNodeReadsIsNoGrid) {
  Net net({2, 3});
  const auto real = [&](float value) { return net.held(number(Type::float32, value)); };
  const std::string whole = net.node("Round", {net.node("Div", {"x", real(0.5F)})});
  const std::string clipped = net.node("Clip", {whole, real(-2), real(3)});
  net.output(net.node("Add", {whole, net.node("Mul", {clipped, real(0.5F)})}));
  net.check();
  for (const Part& part : parts(net)) EXPECT_FALSE(part.grid.has_value());
}

}  // namespace
}  // namespace touchstone
