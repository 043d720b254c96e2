// The fast executor against the reference, on small models whose sums are exact: then the order of
// additions changes nothing and every element has the same bits, on every instruction set.
#include "optimized/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/error.h"
#include "model/model.h"
#include "optimized/registry/isa.h"
#include "reference/interpreter.h"

namespace touchstone {
namespace {

// Small whole numbers, the same each time.
Tensor whole(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) t.data<float>()[k] = static_cast<float>(random() % 7) - 3;
  return t;
}

ValueInfo info(const std::string& name, const Shape& shape) {
  ValueInfo made;
  made.name = name;
  made.type = tensor_type(Type::float32);
  made.shape.emplace();
  for (const Index size : shape) made.shape->push_back({size, ""});
  return made;
}

// A model built node by node.
class Net {
 public:
  Net(Shape input) {
    model_.ir_version = 10;
    model_.opsets[""] = 21;
    model_.graph.name = "net";
    model_.graph.inputs.push_back(info("x", input));
    input_ = std::move(input);
  }
  std::string constant(Shape shape) {
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    model_.graph.initializers.emplace(name, whole(std::move(shape), ++seed_));
    return name;
  }
  std::string node(const std::string& op, std::vector<std::string> inputs,
                   std::map<std::string, std::vector<Index>> lists = {},
                   std::map<std::string, Index> numbers = {}) {
    Node made;
    made.op = op;
    made.index = static_cast<Index>(model_.graph.nodes.size());
    made.name = "n" + std::to_string(made.index);
    made.inputs = std::move(inputs);
    made.outputs = {"v" + std::to_string(made.index)};
    for (auto& [name, list] : lists) made.attributes[name].is = list;
    for (auto& [name, number] : numbers) made.attributes[name].is = number;
    model_.graph.nodes.push_back(made);
    return made.outputs[0];
  }
  std::string convolution(const std::string& x, Shape weights,
                          std::map<std::string, std::vector<Index>> lists = {}, Index group = 1) {
    const Index out = weights[0];
    return node("Conv", {x, constant(std::move(weights)), constant({out})}, std::move(lists),
                {{"group", group}});
  }
  std::string integers(std::vector<Index> items, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<Index>(items.size())};
    const std::string name = "c" + std::to_string(model_.graph.initializers.size());
    Tensor t(Type::int64, shape);
    std::copy(items.begin(), items.end(), t.data<std::int64_t>());
    model_.graph.initializers.emplace(name, std::move(t));
    return name;
  }
  // An attribute of the last node.
  void words(const std::string& name, const std::string& held) {
    model_.graph.nodes.back().attributes[name].is = held;
  }
  void output(const std::string& name) {
    ValueInfo made;
    made.name = name;
    made.type = tensor_type(Type::float32);
    model_.graph.outputs.push_back(made);
  }

  // Every element is as the reference makes it, with and without fusion, by one thread and by two,
  // in a first run and in a second. Returns the kernels of the fused plan.
  std::string check() {
    require_valid(model_, Limits::trusted());
    std::string kernels;
    for (const Level level : {Level::none, Level::all}) {
      for (const Index threads : {1, 2}) {
        Session session(model_,
                        {.threads = threads, .winograd = false, .passes = {.level = level}});
        for (const unsigned seed : {100U, 200U}) {
          const std::map<std::string, Value> feeds{{"x", whole(input_, seed)}};
          const std::map<std::string, Value> expected = run(model_, feeds);
          const std::map<std::string, Value> made = session.run(feeds);
          for (const auto& [name, value] : expected)
            compare(name, value.tensor(), made.at(name).tensor());
        }
        kernels.clear();
        for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
      }
    }
    return kernels;
  }

 private:
  static void compare(const std::string& name, const Tensor& expected, const Tensor& made) {
    ASSERT_EQ(made.shape(), expected.shape()) << name;
    for (Index k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(made.data<float>()[k], expected.data<float>()[k])
          << name << ", element " << k << " of " << text(expected.shape());
    }
  }

  Model model_;
  Shape input_;
  unsigned seed_ = 0;
};

const std::map<std::string, std::vector<Index>> padded{{"pads", {1, 1, 1, 1}}};

TEST(Session, ConvolutionWithClampResidualAndPool) {
  Net net({2, 3, 9, 11});
  const std::string a = net.node("Relu", {net.convolution("x", {20, 3, 3, 3}, padded)});
  const std::string b = net.convolution(a, {20, 20, 1, 1});
  const std::string c = net.node("Relu", {net.node("Add", {b, a})});
  net.output(net.node("MaxPool", {c},
                      {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}}));
  const std::string kernels = net.check();
  EXPECT_NE(kernels.find("max pool"), std::string::npos) << kernels;
  EXPECT_EQ(kernels.find("reference"), std::string::npos) << kernels;
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
  net.output(net.convolution(v, {3, 24, 3, 3}, padded));  // the same value wants a halo
  const std::string kernels = net.check();
  EXPECT_EQ(kernels.find("pointwise"), std::string::npos)
      << "not behind the convolution: " << kernels;
}

TEST(Session, GatesOfChannelsAreRepeatedOverTheImage) {
  Net net({2, 6, 8, 8});
  const std::string a = net.convolution("x", {32, 6, 3, 3}, padded);
  const std::string gate =
      net.node("Relu", {net.convolution(net.node("GlobalMaxPool", {a}), {32, 32, 1, 1})});
  net.output(net.node("Mul", {a, gate}));
  const std::string spot = net.convolution(a, {1, 32, 1, 1});
  net.output(net.node("Mul", {a, spot}));  // one channel, repeated over all
  net.check();
}

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
  net.output(net.convolution(all, {8, 64, 3, 3}, padded));  // wants a halo around all of them
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
  net.output(maps[0]);  // whose block others stand in, too
  const std::string kernels = net.check();
  EXPECT_EQ(kernels.find("move"), std::string::npos) << kernels;
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
  EXPECT_EQ(kernels.find("move"), std::string::npos) << kernels;
  net.output(grown(a, {2, 20, 8, 4}));  // not all of them as often
  net.output(grown(a, {2, 20, 5, 2}));  // some of them not at all
  EXPECT_NE(net.check().find("move"), std::string::npos);
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
  EXPECT_NE(kernels.find("product"), std::string::npos) << kernels;
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
  EXPECT_EQ(kernels.find("reference"), std::string::npos) << kernels;
  EXPECT_NE(kernels.find("move"), std::string::npos) << kernels;
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

// Inference cuts at 30 whatever it takes for the size of what is cut, which is at most 3.
TEST(Session, ShapesThatHangOnValuesMayBeOthersThanInferred) {
  Net net({12, 5});
  const std::string most = net.node("Reshape", {net.node("ReduceMax", {"x"}), net.integers({1})});
  const std::string end = net.node("Cast", {most}, {}, {{"to", 7}}), zero = net.integers({0});
  const std::string part = net.node("Slice", {"x", zero, end});
  const std::string cut = net.node("Slice", {part, zero, net.integers({30})});
  net.output(net.node("ReduceMax", {cut, net.integers({1})}));
  net.output(net.node("Relu", {net.node("Mul", {cut, net.constant({})})}));
  net.output(net.node("Relu", {"x"}));
  const std::string kernels = net.check();
  EXPECT_NE(kernels.find("pointwise"), std::string::npos) << "what is known is fast: " << kernels;
}

TEST(Session, WhatHasNoFastKernelRunsOnTheReference) {
  Net net({1, 8, 4, 4});
  const std::string a = net.convolution("x", {8, 8, 3, 3}, padded);
  const std::string b = net.node("Transpose", {a}, {{"perm", {0, 2, 3, 1}}});
  const std::string c = net.node("Relu", {b});
  net.output(net.node("CumSum", {c, net.node("Constant", {}, {}, {{"value_int", 1}})}));
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

}  // namespace
}  // namespace touchstone

// Run once for each instruction set (TOUCHSTONE_ISA); one that this processor lacks is not tested.
int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  try {
    touchstone::chosen_isa();
  } catch (const touchstone::Error&) {
    testing::GTEST_FLAG(filter) = "-*";
  }
  return RUN_ALL_TESTS();
}
