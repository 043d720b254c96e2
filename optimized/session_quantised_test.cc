// Tests models in which every value is quantized and dequantized. Nodes of 8-bit integers must run
// on integer kernels, others on the kernels of their float32 counterparts. Scales are powers of
// two, so that sums are exact and ties occur.
#include <gmock/gmock.h>
#include "core/numbers/convert.h"

#include "optimized/lowering/quantised_graph.h"
#include "optimized/plan/parts.h"
#include "optimized/plan/plan.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
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

Tensor scales(Index count, float by = 1) {
  Tensor made(Type::float32, {count});
  for (Index k = 0; k < count; ++k) made.data<float>()[k] = (k % 2 == 0 ? 0.5F : 0.25F) * by;
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
  // Convolves with int8 weights that have a scale per output channel, and an int32 bias of these
  // scales times that of the input.
  std::string convolved(const std::string& x, Shape weights, float scale_of_x = 1) {
    const Index channels = weights[0];
    const std::string s = held(scales(channels));
    const std::string w = held(drawn(Type::int8, std::move(weights), ++seed_of_weights_));
    const std::string b = held(drawn(Type::int32, {channels}, ++seed_of_weights_));
    return node(
        "Conv",
        {x, node("DequantizeLinear", {w, s}, {}, {{"axis", 0}}),
         node("DequantizeLinear", {b, held(scales(channels, scale_of_x))}, {}, {{"axis", 0}})},
        padded);
  }

 private:
  unsigned seed_of_weights_ = 1000;
};

constexpr Type bytes[] = {Type::uint8, Type::int8};
constexpr Type other_types[] = {Type::uint16, Type::int16, Type::uint4, Type::int4};

// Requires that no kernel computes quantized values as floats, and none is the reference's.
void expect_integers(const std::string& kernels) {
  if (!integers_are_faster()) return;
  for (const char* slow : {"reference", "row kernel", "pointwise"})
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr(slow))) << kernels;
}

TEST(Session, QuantisedConvolutionsRunOnIntegers) {
  for (const Type type : bytes) {
    for (const int zero : {3, type == Type::uint8 ? 0 : -128}) {
      Quantised net({1, 5, 9, 7});
      const std::string x = net.rounded("x", type, 0.5F, zero);
      const std::string a = net.rounded(net.convolved(x, {24, 5, 3, 3}, 0.5F), type, 2, zero);
      const std::string b =
          net.rounded(net.node("Relu", {net.convolved(a, {24, 24, 3, 3}, 2)}), type, 4, zero);
      const std::string sum =
          net.rounded(net.node("Relu", {net.node("Add", {b, a})}), type, 4, zero);
      const std::string c = net.rounded(net.convolved(sum, {24, 24, 3, 3}, 4), type, 8, 1);
      const std::string d = net.rounded(net.node("Add", {c, sum}), type, 8, 2);
      const std::string pool = net.node("MaxPool", {d}, {{"kernel_shape", {3, 3}}});
      const std::string last = net.convolved(net.rounded(pool, type, 8, 2), {8, 24, 3, 3}, 8);
      net.output(net.rounded(net.node("Relu", {last}), type, 16, zero));
      const std::string kernels = net.check();
      expect_integers(kernels);
      if (!integers_are_faster()) continue;
      EXPECT_THAT(kernels, ::testing::HasSubstr("quantized sum")) << kernels;
      EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("blocks"))) << kernels;
    }
  }
}

TEST(Session, ClampsOfQuantisedConvolutionsLimitIntegers) {
  for (const Type type : bytes) {
    Quantised net({1, 4, 6, 6});
    const auto real = [&](float value) { return net.held(number(Type::float32, value)); };
    const std::string x = net.rounded("x", type, 0.5F, 1);
    const std::string made = net.convolved(x, {6, 4, 3, 3});
    net.output(net.rounded(net.node("Clip", {made, real(-3), real(5)}), type, 0.5F, 2));
    expect_integers(net.check());
  }
}

// Scales that are no powers of two: the definition's sums in float32 may round to the next integer.
TEST(Session, QuantisedValuesOfAnyScale) {
  for (const Type type : bytes) {
    Quantised net({1, 4, 18, 18});
    const std::string x = net.rounded("x", type, 0.03F, 5);
    net.output(net.rounded(net.convolved(x, {12, 4, 3, 3}), type, 0.7F, 3));
    const std::map<std::string, Value> feeds{{"x", whole({1, 4, 18, 18}, 5)}};
    const Model model = net.model();
    const Tensor expected = run(model, feeds).begin()->second.tensor();
    const Tensor made = Session(model).run(feeds).begin()->second.tensor();
    Index others = 0;
    for (Index k = 0; k < made.size(); ++k) {
      const float distance = std::abs(made.data<float>()[k] - expected.data<float>()[k]);
      EXPECT_LT(distance, 0.71F);
      others += distance > 0 ? 1 : 0;
    }
    EXPECT_LT(others, made.size() / 100);
  }
}

// A bias that is no multiple of the scales' product leaves the convolution to floats.
TEST(Session, ConvolutionsWithABiasOfFloats) {
  Quantised net({1, 4, 6, 6});
  const std::string x = net.rounded("x", Type::uint8, 0.5F, 1);
  const std::string w = net.node("DequantizeLinear", {net.held(drawn(Type::int8, {3, 4, 1, 1}, 9)),
                                                      net.held(number(Type::float32, 0.5F))});
  const std::string y = net.node("Conv", {x, w, net.reals({0.25F, 0.3F, 0.0625F})});
  net.output(net.rounded(y, Type::uint8, 2, 3));
  EXPECT_THAT(net.check(), ::testing::Not(::testing::HasSubstr("integer convolution")));
}

TEST(Session, QuantisedGemmsScaleTheirSums) {
  for (const Type type : bytes) {
    for (const bool transposed : {false, true}) {
      Quantised net({3, 40});
      const std::string x = net.rounded("x", type, 0.5F, 1);
      const std::string w =
          net.held(drawn(Type::int8, transposed ? Shape{24, 40} : Shape{40, 24}, 7));
      const Index axis = transposed ? 0 : 1;
      const std::string y = net.node(
          "Gemm",
          {x, net.node("DequantizeLinear", {w, net.held(scales(24))}, {}, {{"axis", axis}}),
           net.constant({24})},
          {}, {{"transB", transposed ? 1 : 0}});
      net.output(net.rounded(net.node("Relu", {y}), Type::uint8, 2, 128));
      const std::string kernels = net.check();
      EXPECT_EQ(kernels.find("scaled integer matmul") != kernels.npos, integers_are_faster());
    }
  }
}

// No node after the lowering has the rules of Gemm.
TEST(Session, RulesOfQuantisedGemms) {
  const auto refusal = [](const Model& model, const std::map<std::string, Value>& feeds) {
    std::string rules[2];
    for (const bool fast : {false, true}) {
      try {
        fast ? Session(model).run(feeds) : run(model, feeds);
      } catch (const Error& error) {
        rules[fast] = error.rule;
      }
    }
    EXPECT_EQ(rules[0], rules[1]);
    return rules[1];
  };
  Quantised net({2, 24});
  const std::string x = net.rounded("x", Type::uint8, 0.5F, 1);
  const std::string w = net.node("DequantizeLinear", {net.held(drawn(Type::int8, {24, 5}, 7)),
                                                      net.held(number(Type::float32, 0.5F))});
  const std::string c = net.constant({5});
  net.output(net.node("Gemm", {x, w, c}));
  Model model = net.model();
  model.graph.initializers.erase(c);
  model.graph.inputs.push_back(info(c, {5}));
  for (ValueInfo& input : model.graph.inputs) input.shape.reset();
  EXPECT_EQ(refusal(model, {{"x", whole({2, 24}, 1)}, {c, whole({1, 5}, 2)}}), "");
  EXPECT_EQ(refusal(model, {{"x", whole({1, 24}, 1)}, {c, whole({4, 5}, 2)}}), "Gemm-13/C3");
  EXPECT_EQ(refusal(model, {{"x", whole({2, 2, 24}, 1)}, {c, whole({5}, 2)}}), "Gemm-13/C1");
}

// The rounding of scales exceeds the bounds of sums of a few products.
TEST(Session, ProductsOfFewQuantisedValuesStayFloats) {
  for (const Index depth : {1, 7, 8}) {
    Quantised net({3, depth});
    const std::string x = net.rounded("x", Type::uint8, 0.04F, 1);
    const std::string w = net.node("DequantizeLinear", {net.held(drawn(Type::int8, {depth, 5}, 7)),
                                                        net.held(number(Type::float32, 0.03F))});
    net.output(net.node("MatMul", {x, w}));
    Session session(net.model());
    const std::map<std::string, Value> feeds{{"x", whole({3, depth}, 4)}};
    const std::map<std::string, Value> made = session.run(feeds);
    EXPECT_EQ(why_refused(net.model(), feeds, made), "") << depth;
    std::string kernels;
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
    EXPECT_EQ(kernels.find("scaled integer matmul") != kernels.npos,
              depth >= 8 && integers_are_faster());
  }
}

// Selections of elements compute on integers, between nodes that do so.
// A product of integers is not rounded where its factors as floats are.
TEST(Session, ProductsOfFactorsThatAreOutputsStayFloats) {
  for (const bool shown : {false, true}) {
    Quantised net({3, 40});
    const std::string x = net.rounded("x", Type::uint8, 0.5F, 1);
    const std::string w = net.node("DequantizeLinear",
                                   {net.held(drawn(Type::int8, {40, 24}, 7)), net.held(scales(24))},
                                   {}, {{"axis", 1}});
    if (shown) net.output(x);
    net.output(net.node("MatMul", {x, w}));
    const std::string kernels = net.check();
    if (!integers_are_faster()) continue;
    EXPECT_EQ(kernels.find("scaled integer matmul") == std::string::npos, shown) << kernels;
  }
}

TEST(Session, SelectionsOfQuantisedValues) {
  Quantised net({2, 4, 6, 6});
  const std::string x = net.rounded("x", Type::uint8, 0.5F, 1);
  const std::string turned = net.node("Transpose", {x}, {{"perm", {0, 1, 3, 2}}});
  const std::string joined = net.node("Concat", {turned, x}, {}, {{"axis", 1}});
  const std::string a = net.rounded(
      net.convolved(net.rounded(joined, Type::uint8, 0.5F, 1), {6, 8, 3, 3}), Type::uint8, 2, 3);
  const std::string flat = net.rounded(net.node("Flatten", {a}), Type::uint8, 2, 3);
  const std::string w = net.node("DequantizeLinear", {net.held(drawn(Type::int8, {216, 5}, 7)),
                                                      net.held(number(Type::float32, 0.5F))});
  net.output(net.rounded(net.node("MatMul", {flat, w}), Type::int8, 16, 3));
  expect_integers(net.check());
}

TEST(Session, DynamicallyQuantisedProductsScaleTheirSums) {
  for (const bool biased : {true, false}) {
    Net net({2, 7, 40});
    const std::string q = net.node("DynamicQuantizeLinear", {"x"});
    net.outputs({q, "scale", "zero"});
    const std::string by = net.node("Mul", {"scale", net.held(number(Type::float32, 0.25F))});
    const std::string w = net.held(drawn(Type::int8, {40, 70}, 7));
    const std::string sums =
        net.node("MatMulInteger", {q, w, "zero", net.held(number(Type::int8, 1))});
    const std::string floats =
        net.node("Cast", {sums}, {}, {{"to", static_cast<Index>(Type::float32)}});
    std::string y = net.node("Mul", {floats, by});
    if (biased) y = net.node("Add", {net.constant({70}), y});
    net.output(net.node("Relu", {y}));
    EXPECT_THAT(net.check(), ::testing::HasSubstr("scaled integer matmul"));
  }
}

TEST(Session, ConvolutionsOfOtherIntegersRunAsConvolutionsOfFloats) {
  for (const Type type : other_types) {
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

TEST(Session, QuantisedProductsRunOnIntegers) {
  Quantised net({3, 40});
  const std::string x = net.rounded("x", Type::int8, 0.5F, 0);
  const std::string w = net.held(drawn(Type::int8, {40, 24}, 7));
  const std::string y = net.node(
      "MatMul", {x, net.node("DequantizeLinear", {w, net.held(scales(24))}, {}, {{"axis", 1}})});
  net.output(net.rounded(y, Type::uint8, 2, 128));
  expect_integers(net.check());
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

// No integer is NaN, so no dequantised number is.
TEST(Session, WhatIsQuantisedFromNanIsANumber) {
  Quantised net({40});
  const std::string s = net.held(number(Type::float32, 0.5F)),
                    zero = net.held(number(Type::int8, 7));
  net.output(net.node("DequantizeLinear", {net.node("QuantizeLinear", {"x", s, zero}), s, zero}));
  Session session(net.model(), {});
  Tensor x(Type::float32, {40});
  std::fill_n(x.data<float>(), 40, std::numeric_limits<float>::quiet_NaN());
  const std::map<std::string, Value> made = session.run({{"x", x}});
  const float* y = made.begin()->second.tensor().data<float>();
  EXPECT_THAT(std::vector<float>(y, y + 40), ::testing::Each(0));
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
  const AnalyzedGraph graph(model, {{"x", {2, 3}}}, PlanOptions{.limits = Limits::trusted()});
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

TEST(Session, RoundingWithoutNanIsOneKernel) {
  for (const float least : {2.0F, -2.0F}) {
    Net net({2, 3});
    const auto real = [&](float value) { return net.held(number(Type::float32, value)); };
    const std::string kept = net.node("Clip", {net.node("Round", {"x"}), real(least), real(3)});
    net.output(net.node("Mul", {net.node("ThresholdedRelu", {kept}), real(0.25F)}));  // alpha is 1
    net.check();
    EXPECT_EQ(parts(net).size(), least > 1 ? 1U : 3U) << "a threshold between the bounds counts";
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
}  // namespace touchstone::optimized
