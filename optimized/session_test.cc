// Tests the fast executor against the reference on small models whose sums are exact. The order of
// additions then changes nothing, and every element must have the same bits on every instruction
// set.
#include <gmock/gmock.h>
#include <atomic>

#include "core/error.h"
#include "optimized/registry/isa.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

TEST(Session, ConvolutionWithClampResidualAndPool) {
  Net net({2, 3, 9, 11});
  const std::string a = net.node("Relu", {net.convolution("x", {20, 3, 3, 3}, padded)});
  const std::string b = net.convolution(a, {20, 20, 1, 1});
  const std::string c = net.node("Relu", {net.node("Add", {b, a})});
  net.output(net.node("MaxPool", {c},
                      {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::HasSubstr("max pool")) << kernels;
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
}

TEST(Session, ConvolutionsOfEveryKind) {
  Net net({1, 32, 10, 7});
  const std::string a =
      net.convolution("x", {32, 1, 3, 3}, {{"pads", {1, 1, 1, 1}}, {"strides", {2, 2}}}, 32);
  const std::string b =
      net.convolution(a, {48, 32, 3, 3}, {{"pads", {2, 2, 2, 2}}, {"dilations", {2, 2}}});
  net.output(net.convolution(b, {10, 48, 3, 2}, {{"pads", {0, 1, 2, 0}}}));
  net.output(b);
  net.check();
}

TEST(Session, TransposedConvolutions) {
  Net net({2, 20, 5, 7});
  const auto transposed = [&](const std::string& x, Shape weights,
                              std::map<std::string, std::vector<Index>> lists) {
    const Index out = weights[1];
    return net.node("ConvTranspose", {x, net.constant(std::move(weights)), net.constant({out})},
                    std::move(lists));
  };
  // Disjoint windows; the second makes less than a block per point.
  std::string v = net.node("Relu", {transposed("x", {20, 40, 2, 2}, {{"strides", {2, 2}}})});
  v = net.node("Mul", {v, net.node("Neg", {v})});
  net.output(transposed(v, {40, 2, 2, 2}, {{"strides", {2, 2}}}));
  net.output(net.convolution(v, {3, 40, 3, 3}, padded));
  // Overlapping windows, with all attributes that shift them.
  net.output(transposed("x", {20, 3, 3, 4}, {{"strides", {2, 3}}, {"pads", {1, 0, 2, 1}}}));
  net.output(transposed("x", {20, 17, 3, 2}, {{"dilations", {2, 3}}, {"strides", {1, 2}}}));
  net.output(transposed("x", {20, 5, 4, 3},
                        {{"dilations", {3, 1}}, {"strides", {2, 2}}, {"output_padding", {1, 1}}}));
  net.output(transposed("x", {20, 4, 3, 3}, {{"pads", {1, 1, 1, 1}}}));
  net.output(transposed("x", {20, 3, 2, 2},  // one row is left, which the dilation reaches
                        {{"dilations", {2, 1}}, {"strides", {2, 1}}, {"pads", {8, 0, 2, 0}}}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  EXPECT_THAT(kernels, ::testing::HasSubstr("spread")) << kernels;
}

TEST(Session, GroupsOfChannels) {
  Net net({2, 32, 5, 6});
  net.output(net.convolution("x", {64, 16, 3, 3}, padded, 2));
  net.output(net.convolution("x", {8, 4, 3, 3}, padded, 8));  // too few channels for blocks
  net.check();
}

TEST(Session, OneDimension) {
  Net net({2, 4, 33});
  const std::string a = net.convolution("x", {17, 4, 5}, {{"pads", {2, 2}}, {"strides", {2}}});
  net.output(
      net.node("AveragePool", {net.node("Relu", {a})}, {{"kernel_shape", {4}}, {"strides", {2}}}));
  net.check();
}

TEST(Session, RegionsBehindConvolutionsSeeConstantsOfEveryShape) {
  Net net({1, 5, 8, 8});
  std::string v = net.convolution("x", {24, 5, 3, 3}, padded);
  v = net.node("Mul", {v, net.constant({24, 1, 1})});
  v = net.node("Add", {v, net.constant({})});
  v = net.node("Sub", {v, net.constant({1, 1, 8, 8})});
  v = net.node("Sub", {net.constant({8}), v});
  v = net.node("Mul", {v, net.node("Neg", {v})});
  net.output(net.convolution(v, {3, 24, 1, 1}));
  net.output(net.convolution(v, {3, 24, 3, 3}, padded));  // the same value needs a halo
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("pointwise")))
      << "not behind the convolution: " << kernels;
}

TEST(Session, GatesOfChannelsAreRepeatedOverTheImage) {
  Net net({2, 6, 8, 8});
  const std::string a = net.convolution("x", {32, 6, 3, 3}, padded);
  const std::string gate =
      net.node("Relu", {net.convolution(net.node("GlobalMaxPool", {a}), {32, 32, 1, 1})});
  net.output(net.node("Mul", {a, gate}));
  const std::string spot = net.convolution(a, {1, 32, 1, 1});
  net.output(net.node("Mul", {a, spot}));  // one channel, broadcast to all
  net.check();
}

// A gated value is not computed if a convolution's weights can be scaled instead.
TEST(Session, GatesOfWhatAConvolutionReadsGoIntoItsWeights) {
  for (const Index channels : {32, 19}) {  // whole blocks or not
    for (const Index images : {1, 2}) {
      for (const bool first : {true, false}) {
        Net net({images, 6, 9, 8});
        const std::string a = net.convolution("x", {channels, 6, 3, 3}, padded);
        const std::string gate = net.node(
            "Relu", {net.convolution(net.node("GlobalMaxPool", {a}), {channels, channels, 1, 1})});
        const std::string scaled =
            net.node("Mul", first ? std::vector{gate, a} : std::vector{a, gate});
        const std::string b = net.convolution(scaled, {20, channels, 1, 1});
        net.output(net.node("Relu", {net.node("Add", {b, net.convolution("x", {20, 6, 1, 1})})}));
        const std::string kernels = net.check();
        EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("pointwise"))) << kernels;
      }
    }
  }
}

// It is computed if other nodes read it too, or if there are more weights than elements.
TEST(Session, GatesThatStay) {
  for (const bool read_twice : {true, false}) {
    Net net({1, 6, 3, read_twice ? 9 : 3});
    const std::string a = net.convolution("x", {32, 6, 3, 3}, padded);
    const std::string gate =
        net.node("Relu", {net.convolution(net.node("GlobalMaxPool", {a}), {32, 32, 1, 1})});
    const std::string scaled = net.node("Mul", {gate, a});
    net.output(net.convolution(scaled, {20, 32, 1, 1}));
    if (read_twice) net.output(net.node("Neg", {scaled}));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::HasSubstr("pointwise")) << kernels;
  }
}

// Far from zero, a sigmoid is 0 or 1 on every instruction set.
TEST(Session, ProductsWithTheOwnSigmoidAreOneKernel) {
  for (const bool first : {true, false}) {
    Net net({1, 6, 9, 8});
    const std::string much = net.node("Cast", {net.integers({200})}, {}, {{"to", 1}});
    const std::string far = net.node("Mul", {net.convolution("x", {32, 6, 3, 3}, padded), much});
    const std::string s = net.node("Sigmoid", {far});
    net.output(net.node("Mul", first ? std::vector{s, far} : std::vector{far, s}));
    net.check();
  }
}

TEST(Session, ProductsBehindAnImage) {
  Net net({3, 4, 6, 6});
  const std::string a = net.node("Relu", {net.convolution("x", {16, 4, 3, 3})});
  const std::string flat = net.node("Flatten", {a});
  const std::string b = net.node("Gemm", {flat, net.constant({256, 40}), net.constant({40})});
  const std::string c = net.node("Relu", {b});
  const std::string d = net.node("MatMul", {c, net.constant({40, 9})});
  net.output(net.node("Add", {d, net.constant({9})}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::HasSubstr("matmul")) << kernels;
}

TEST(Session, ShapesThatHangOnValuesMayBeOthersThanInferred) {
  Net net({12, 5});
  const std::string max = net.node("Reshape", {net.node("ReduceMax", {"x"}), net.integers({1})});
  const std::string end = net.node("Cast", {max}, {}, {{"to", 7}}), zero = net.integers({0});
  const std::string part = net.node("Slice", {"x", zero, end});
  const std::string cut = net.node("Slice", {part, zero, net.integers({30})});
  net.output(net.node("ReduceMax", {cut, net.integers({1})}));
  net.output(net.node("Relu", {net.node("Mul", {cut, net.constant({})})}));
  net.output(net.node("Relu", {"x"}));
  const std::string kernels = net.check();
  EXPECT_THAT(kernels, ::testing::HasSubstr("pointwise")) << "what is known is fast: " << kernels;
}

TEST(Session, WhatHasNoFastKernelRunsOnTheReference) {
  Net net({1, 8, 4, 4});
  const std::string a = net.convolution("x", {8, 8, 3, 3}, padded);
  const std::string b = net.node("Transpose", {a}, {{"perm", {0, 2, 3, 1}}});
  const std::string c = net.node("Relu", {b});
  net.output(net.node("Hardmax", {c}));
  net.output(b);
  net.check();
}

TEST(Session, ValuesThatAreReadTwiceStay) {
  Net net({1, 16, 5, 5});
  std::string v = "x";
  std::vector<std::string> kept;
  for (int k = 0; k < 6; ++k) {
    v = net.node("Relu", {net.convolution(v, {16, 16, 1, 1})});
    v = net.node("Clip", {v, net.constant({}), net.constant({})});
    kept.push_back(v);
  }
  for (const std::string& each : kept) v = net.node("Add", {v, each});
  net.output(v);
  net.output(kept[2]);
  net.check();
}

// y = Relu(x), of shape [n, 3].
Model rectifier() {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "rectifier";
  model.graph.inputs.push_back(info("x", {2, 3}));
  model.graph.inputs[0].shape->front() = {{}, "n"};
  ValueInfo out;
  out.name = "y";
  out.type = tensor_type(Type::float32);
  model.graph.outputs.push_back(out);
  Node node;
  node.op = "Relu";
  node.inputs = {"x"};
  node.outputs = {"y"};
  model.graph.nodes.push_back(node);
  require_valid(model, Limits::trusted());
  return model;
}

// Early versions broadcast a row along an axis counted from the front, given by an attribute or
// fixed as the channels. A row that also fits the last dimension must not be broadcast along that
// one instead.
TEST(Session, OperandsAreLaidAsTheirEntriesSay) {
  for (const Shape& shape : {Shape{1, 2, 2}, Shape{2, 3, 3}, Shape{2, 16, 5, 16}}) {
    Net net(shape);
    net.opset(6);
    net.output(net.node("PRelu", {"x", net.constant({shape[1]})}));
    net.output(net.node("Relu", {net.node("Mul", {"x", net.constant({shape[1]})}, {},
                                          {{"broadcast", 1}, {"axis", 1}})}));
    net.output(net.node("Add", {net.node("Neg", {"x"}), net.constant({shape.back()})}, {},
                        {{"broadcast", 1}}));
    const std::string kernels = net.check();
    EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("reference"))) << kernels;
  }
  Net behind({1, 24, 6, 24});
  behind.opset(6);
  const std::string x = behind.convolution("x", {24, 24, 3, 3}, padded);
  behind.output(behind.node("Relu", {behind.node("PRelu", {x, behind.constant({24})})}));
  behind.check();
}

TEST(Session, ShapesMayChangeFromRunToRun) {
  Session session(rectifier());
  for (const Index n : {1, 5, 2, 1, 9, 0, 7, 5}) {
    const Tensor x = whole({n, 3}, static_cast<unsigned>(n));
    const Tensor y = session.run({{"x", x}}).at("y").tensor();
    ASSERT_EQ(y.shape(), x.shape());
    for (Index k = 0; k < x.size(); ++k)
      EXPECT_EQ(y.data<float>()[k], std::max(x.data<float>()[k], 0.0F));
  }
}

TEST(Session, PlansAtLoadWhereNoSizeIsOpen) {
  EXPECT_TRUE(Session(rectifier()).placement().empty());
  Model model = rectifier();
  model.graph.inputs[0].shape->front() = {2, ""};
  EXPECT_FALSE(Session(std::move(model)).placement().empty());
}

TEST(Session, FeedsThatDoNotFitAreRefused) {
  Session session(rectifier());
  EXPECT_THROW(session.run({{"x", whole({3, 2}, 1)}}), Error);
  EXPECT_THROW(session.run({{"z", whole({2, 3}, 1)}}), Error);
  EXPECT_THROW(session.run({}), Error);
  EXPECT_EQ(session.run({{"x", whole({2, 3}, 1)}}).size(), 1U);
}

TEST(Session, ACancelledOrEndedRunLeavesTheSessionFit) {
  std::atomic<bool> stop{false};
  SessionOptions options;
  options.cancel.flag = &stop;
  Session session(rectifier(), options);
  const std::map<std::string, Value> feeds{{"x", whole({2, 3}, 1)}};
  stop = true;
  try {
    session.run(feeds);
    ADD_FAILURE() << "a cancelled run ends";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::cancelled);
  }
  EXPECT_THROW(Session(rectifier(), options), Error);
  stop = false;
  EXPECT_EQ(session.run(feeds).size(), 1U);

  options = {};
  options.limits.memory = 64;
  try {
    Session small(rectifier(), options);
    small.run(feeds);
    ADD_FAILURE() << "64 bytes are enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "limit/memory");
  }
}

}  // namespace
}  // namespace touchstone::optimized
