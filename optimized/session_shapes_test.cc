// Tests that sessions rely neither on declared shapes nor on shapes that held for other sizes only.
#include <gmock/gmock.h>

#include "core/error.h"
#include "optimized/plan/arena_check.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using Lists = std::map<std::string, std::vector<Index>>;

Model fed(Model model, std::map<std::string, Shape> inputs, std::map<std::string, Shape> weights,
          const Lists& lists = {}) {
  for (const auto& [name, shape] : inputs) model.graph.inputs.push_back(info(name, shape));
  for (const auto& [name, shape] : weights) model.graph.initializers.emplace(name, whole(shape, 1));
  for (const auto& [name, list] : lists) model.graph.nodes[0].attributes[name].is = list;
  resolve(model);
  return model;
}

// Returns the violated rule, which the reference and a session must report alike.
std::string refusal(const Model& model) {
  std::map<std::string, Value> feeds;
  for (const ValueInfo& input : model.graph.inputs) {
    Shape shape;
    for (const Dim& dim : *input.shape) shape.push_back(*dim.size);
    feeds.emplace(input.name, whole(shape, 7));
  }
  std::string rules[2];
  for (const bool fast : {false, true}) {
    try {
      if (fast) {
        Session(model, {.threads = 1}).run(feeds);
      } else {
        run(model, feeds);
      }
      return "none";
    } catch (const Error& error) {
      rules[fast] = error.rule + error.message;
    }
  }
  EXPECT_EQ(rules[0], rules[1]);
  return rules[1].substr(0, rules[1].find("shape"));
}

TEST(DeclaredShapes, ABiasOfAnotherLength) {
  const Model model = fed(one_node("Conv", {"x", "w", "b"}, {1, 8, 8, 8}), {{"x", {1, 8, 8, 8}}},
                          {{"w", {8, 8, 1, 1}}, {"b", {100000}}});
  EXPECT_NE(refusal(model), "none");
}

TEST(DeclaredShapes, ChannelsAndKernelsOfAnotherSize) {
  EXPECT_NE(refusal(fed(one_node("Conv", {"x", "w"}, {1, 8, 8, 8}), {{"x", {1, 8, 8, 8}}},
                        {{"w", {8, 4096, 1, 1}}})),
            "none");
  EXPECT_NE(refusal(fed(one_node("Conv", {"x", "w"}, {1, 8, 7, 7}), {{"x", {1, 8, 8, 8}}},
                        {{"w", {4096, 8, 1, 1}}}, {{"kernel_shape", {2, 2}}})),
            "none");
}

TEST(DeclaredShapes, MatricesThatDoNotFit) {
  EXPECT_NE(
      refusal(fed(one_node("MatMul", {"a", "b"}, {1, 1}), {{"a", {512, 64}}}, {{"b", {2, 512}}})),
      "none");
  EXPECT_NE(refusal(fed(one_node("MatMul", {"a", "b"}, {64, 64}),
                        {{"a", {64, 1000}}, {"b", {2, 64}}}, {})),
            "none");
  EXPECT_NE(refusal(fed(one_node("Gemm", {"a", "b", "c"}, {2, 3}), {{"a", {2, 4}}},
                        {{"b", {4, 3}}, {"c", {4, 1000}}})),
            "none");
}

TEST(DeclaredShapes, RowsThatAreNotJoined) {
  Model model = one_node("Concat", {"a", "b"}, {4096, 2003});
  model.graph.nodes[0].attributes["axis"].is = Index{1};
  EXPECT_NE(refusal(fed(std::move(model), {{"a", {4096, 3}}, {"b", {1, 2000}}}, {})), "none");
}

// A view of four elements, whose declared shape differs from that of the run.
TEST(DeclaredShapes, AViewHasTheShapeThatIsFed) {
  Model model = one_node("Reshape", {"x", "s"}, {4096});
  ValueInfo s = info("s", {1});
  s.type = tensor_type(Type::int64);
  model.graph.inputs = {info("x", {2, 2}), s};
  resolve(model);
  Tensor shape(Type::int64, {1});
  *shape.data<std::int64_t>() = 4;
  const Tensor x = whole({2, 2}, 3);
  Session session(model, {.threads = 1});
  const std::map<std::string, Value> made = session.run({{"x", x}, {"s", shape}});
  EXPECT_EQ(made.at("y").tensor().shape(), Shape({4}));
  *shape.data<std::int64_t>() = 4096;
  EXPECT_THROW(session.run({{"x", x}, {"s", shape}}), Error);
}

TEST(DeclaredShapes, NegativePadsCutAPlainImage) {
  for (const Index channels : {3, 32}) {
    Net net({2, channels, 16, 17});
    net.output(net.convolution("x", {8, channels, 3, 3}, {{"pads", {-1, -2, -1, 0}}}));
    net.output(net.convolution("x", {8, channels, 3, 3}, {{"pads", {2, -1, -1, 1}}}));
    net.check();
  }
}

ValueInfo open(const std::string& name, std::vector<Dim> dims) {
  ValueInfo made = info(name, {});
  made.shape = std::move(dims);
  return made;
}

// A mask is as long as past and present keys. Drawn sizes satisfy that only for length 1, so no
// fact found there may be used for other lengths.
TEST(OpenShapes, ACacheThatGrows) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "cache";
  model.graph.inputs = {open("past", {Dim{2, ""}, Dim{{}, "P"}, Dim{4, ""}}),
                        open("now", {Dim{2, ""}, Dim{{}, "S"}, Dim{4, ""}}),
                        open("mask", {Dim{1, ""}, Dim{{}, "T"}, Dim{4, ""}})};
  const auto add = [&](const std::string& op, std::vector<std::string> inputs, std::string output,
                       std::map<std::string, Index> numbers = {}) {
    Node node;
    node.op = op;
    node.index = static_cast<Index>(model.graph.nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    for (const auto& [name, number] : numbers) node.attributes[name].is = number;
    model.graph.nodes.push_back(std::move(node));
  };
  const auto list = [&](const std::string& name, std::vector<Index> items) {
    Tensor t(Type::int64, {static_cast<Index>(items.size())});
    std::copy(items.begin(), items.end(), t.data<std::int64_t>());
    model.graph.initializers.emplace(name, std::move(t));
  };
  list("four", {4});
  add("Concat", {"past", "now"}, "keys", {{"axis", 1}});
  add("Add", {"keys", "mask"}, "masked");
  add("Shape", {"mask"}, "length", {{"start", 1}, {"end", 2}});
  add("Concat", {"length", "four"}, "dims", {{"axis", 0}});
  add("Reshape", {"mask", "dims"}, "y");
  for (const char* name : {"y", "masked"}) {
    ValueInfo output;
    output.name = name;
    output.type = tensor_type(Type::float32);
    model.graph.outputs.push_back(output);
  }
  require_valid(model, Limits::trusted());
  Session session(model, {.threads = 1});
  for (const Index past : {1, 2, 7, 8, 127}) {
    const std::map<std::string, Value> feeds{{"past", whole({2, past, 4}, 1)},
                                             {"now", whole({2, 1, 4}, 2)},
                                             {"mask", whole({1, past + 1, 4}, 3)}};
    const std::map<std::string, Value> expected = run(model, feeds), made = session.run(feeds);
    for (const auto& [name, value] : expected) {
      const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
      ASSERT_EQ(got.shape(), wanted.shape()) << past;
      EXPECT_TRUE(std::equal(wanted.data<float>(), wanted.data<float>() + wanted.size(),
                             got.data<float>()));
    }
  }
}

// A symbol whose size the options give is planned for at load.
TEST(OpenShapes, SizesOfSymbolsAreThoseOfTheOptions) {
  Model model = one_node("MatMul", {"a", "b"}, {});
  model.graph.inputs = {open("a", {Dim{{}, "N"}, Dim{4, ""}})};
  model.graph.outputs[0].shape.reset();
  model.graph.initializers.emplace("b", whole({4, 3}, 1));
  require_valid(model, Limits::trusted());
  EXPECT_TRUE(Session(model, {.threads = 1}).placement().empty());
  Session session(model, {.threads = 1, .dims = {{"N", 2}, {"other", 7}}});
  EXPECT_FALSE(session.placement().empty());
  EXPECT_EQ(session.run({{"a", whole({2, 4}, 1)}}).begin()->second.tensor().shape(), Shape({2, 3}));
  try {
    session.run({{"a", whole({3, 4}, 1)}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "feed/shape");
  }
}

// An output that a step reads as a tensor must survive the conversion of later outputs from blocks.
TEST(Buffers, AnOutputThatIsSharedLivesToTheEnd) {
  for (const Index channels : {4, 16, 24, 64}) {
    Net net({1, 16, 8, 8});
    const std::string shared = net.node("Mul", {"x", net.constant({1})});
    net.output(shared);
    const std::string doubles = net.node("Cast", {shared}, {}, {{"to", 11}});
    net.output(net.node("Cast", {doubles}, {}, {{"to", 1}}));
    const std::string large = net.convolution("x", {channels, 16, 1, 1});
    net.output(large);
    net.output(net.node("Relu", {large}));
    net.check();
  }
}

// A megabyte of each kind of packed weights, and a limit that a second copy of them exceeds.
TEST(OpenShapes, PlansOfAllShapesShareWeightsAndArena) {
  Net net({1, 64, 16, 16});
  std::string x = net.convolution("x", {64, 64, 3, 3}, padded);
  x = net.node("ConvTranspose", {x, net.constant({64, 64, 2, 2})}, {{"strides", {2, 2}}});
  const std::string flat = net.node("Flatten", {net.node("GlobalAveragePool", {x})});
  const std::string made = net.node("MatMul", {flat, net.constant({64, 8192})});
  net.output(net.node("MatMul", {net.constant({1, 8192, 64}), net.node("Transpose", {flat})}));
  net.output(made);
  Model model = net.model();
  model.graph.inputs[0].shape->front() = {{}, "n"};
  SessionOptions options{.threads = 1};
  if (!arena_check_chosen())
    options.limits.memory = Index{20} << 20;  // checked plans share no arena
  Session session(model, options);
  for (Index n = 1; n <= 12; ++n) {
    const Tensor fed = whole({n, 64, 16, 16}, n);
    const auto expected = Session(model, {.threads = 1}).run({{"x", fed}});
    const auto answers = session.run({{"x", fed}});
    for (const auto& [name, value] : expected) {
      const std::span<const std::byte> wanted = value.tensor().bytes();
      EXPECT_EQ(std::memcmp(answers.at(name).tensor().bytes().data(), wanted.data(), wanted.size()),
                0)
          << name << " of " << n;
    }
  }
}

// Packed forms are of a constant's shape, too: several constants may share a buffer.
TEST(OpenShapes, ConstantsOfOneBufferArePackedApart) {
  Net net({1, 16, 6, 6});
  const Tensor filters = whole({16, 32, 2, 2}, 5);
  const std::string wide = net.node("ConvTranspose", {"x", net.held(filters)});
  net.output(wide);
  net.output(net.node("ConvTranspose", {wide, net.held(filters.reshaped({32, 16, 2, 2}))}));
  const Tensor taps = whole({16, 16, 3, 5}, 6);
  const std::string point = net.node("GlobalMaxPool", {"x"});
  const std::string flat = net.node("Conv", {point, net.held(taps)}, {{"pads", {1, 1, 1, 3}}});
  net.output(flat);  // taps that read padding alone are left out
  net.output(
      net.node("Conv", {point, net.held(taps.reshaped({16, 16, 5, 3}))}, {{"pads", {1, 1, 3, 1}}}));
  net.check();
}

// Values of several types share one memory. Bools take a number of bytes that no float32 divides.
TEST(Buffers, ElementsOfAnyTypeAreInThePlansMemory) {
  constexpr Index to_double = 11, to_integer = 7, to_byte = 2, to_float = 1;
  Net net({3, 5});
  const std::string whole = net.node("Cast", {"x"}, {}, {{"to", to_integer}});
  const std::string bools = net.node("Greater", {whole, net.integers({0}, {1, 1})});
  const std::string flat = net.node("Reshape", {bools, net.integers({15})});
  net.output(net.node("Not", {flat}), Type::boolean);
  const std::string bytes = net.node("Cast", {flat}, {}, {{"to", to_byte}});
  net.output(net.node("Gather", {bytes, net.integers({14, 0, -2})}, {}, {{"axis", 0}}),
             Type::uint8);
  const std::string chosen = net.node("Where", {bools, whole, net.integers({-7}, {1, 1})});
  const std::string doubles = net.node("Cast", {chosen}, {}, {{"to", to_double}});
  net.output(net.node("Transpose", {doubles}), Type::float64);
  net.output(net.node("CumSum", {chosen, net.integers({1}, {1})}), Type::int64);
  net.output(net.node("Mul", {net.node("Cast", {chosen}, {}, {{"to", to_float}}), "x"}));
  EXPECT_THAT(net.check(), ::testing::Not(::testing::HasSubstr("reference")));
}

TEST(Reductions, AreRecordedInThePlan) {
  Net net({64, 9, 65});
  for (const std::vector<Index>& axes : std::vector<std::vector<Index>>{
           {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {-1}, {0, 1, 2}, {}}) {
    net.output(net.node("ReduceSum", {"x", net.integers(axes)}));
    net.output(net.node("ReduceMax", {"x", net.integers(axes)}, {}, {{"keepdims", 0}}));
  }
  net.output(net.node("ReduceMean", {"x"}));
  net.check();
}

// Blocks of one channel are spread over their lanes, but such operators require equal shapes.
TEST(Shapes, NodesThatDoNotBroadcastFollowConvolutionsOfOneChannel) {
  for (const auto& [op, opset] : {std::pair{"SwiGLU", 28}, {"Add", 6}, {"Max", 1}}) {
    for (const Shape& sizes : {Shape{1, 4, 1, 1}, Shape{1, 4, 1}, Shape{2, 4, 3, 5}}) {
      for (const bool fixed : {false, true}) {
        SCOPED_TRACE(std::string(op) + (fixed ? " of a constant" : ""));
        Net net(sizes);
        net.opset(opset);
        Shape weights{1, 4}, one = sizes;
        weights.resize(sizes.size(), 1);
        one[1] = 1;
        const std::string beside = fixed ? net.constant(one) : net.convolution("x", weights);
        net.output(net.node(op, {net.node("Neg", {net.convolution("x", weights)}), beside}));
        net.check();
      }
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
