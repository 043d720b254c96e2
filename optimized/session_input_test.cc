// Tests unusual feeds: empty tensors, NaN and infinities, sizes beyond all memory. A session must
// return the reference's result or an Error with a place, and never end the process.
#include <gmock/gmock.h>

#include <optional>

#include "core/error.h"
#include "optimized/registry/isa.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

TEST(Input, DimensionsOfZero) {
  for (const Shape& shape : {Shape{0, 20, 5, 5}, Shape{2, 20, 0, 5}, Shape{2, 20, 5, 0}}) {
    Net net(shape);
    if (count(head(shape, 1)) == 0) {
      net.output(net.convolution("x", {8, 20, 3, 3}, padded));
      net.output(net.node("MaxPool", {"x"}, {{"kernel_shape", {2, 2}}}));
      net.output(net.node("GlobalAveragePool", {"x"}));
    }
    net.output(net.node("Relu", {net.node("Add", {"x", net.constant({20, 1, 1})})}));
    net.output(net.node("ReduceSum", {"x", net.integers({2, 3})}));
    net.output(net.node("Transpose", {"x"}, {{"perm", {0, 2, 3, 1}}}));
    net.output(net.node("Concat", {"x", net.node("Neg", {"x"})}, {}, {{"axis", 1}}));
    net.output(net.node("Pad", {"x", net.integers({0, 0, 1, 1, 0, 0, 1, 1})}));
    net.output(net.node("Reshape", {"x", net.integers({0, 20, -1}, {3})}, {}, {}));
    net.check();
  }
  Net product({0, 7});
  product.output(product.node("MatMul", {"x", product.constant({7, 5})}));
  product.output(product.node("Gemm", {"x", product.constant({7, 5}), product.constant({5})}));
  product.check();
  Net empty_sum({3, 0});
  empty_sum.output(empty_sum.node("MatMul", {"x", empty_sum.constant({0, 5})}));
  empty_sum.output(
      empty_sum.node("Gemm", {"x", empty_sum.constant({0, 5}), empty_sum.constant({5})}));
  empty_sum.output(empty_sum.node("ReduceSum", {"x", empty_sum.integers({1})}));
  empty_sum.check();
}

TEST(Input, NotANumberAndInfinities) {
  Net net({2, 20, 9, 11});
  net.specials = true;
  const std::string a = net.convolution("x", {24, 20, 3, 3}, padded);
  net.output(net.node("Relu", {net.node("Add", {a, net.convolution(a, {24, 24, 1, 1})})}));
  net.output(net.convolution("x", {20, 1, 3, 3}, padded, 20));
  net.output(net.node("Clip", {a, net.constant({}), net.constant({})}));
  net.output(net.node("MaxPool", {"x"}, {{"kernel_shape", {3, 2}}, {"pads", {1, 0, 1, 1}}}));
  net.output(net.node("AveragePool", {"x"}, {{"kernel_shape", {2, 2}}, {"pads", {1, 0, 1, 1}}}));
  net.output(net.node("GlobalMaxPool", {"x"}));
  net.output(net.node("Max", {"x", net.node("Neg", {"x"})}));
  net.output(net.node("ReduceMin", {"x", net.integers({1, 3})}));
  net.output(net.node("Transpose", {"x"}, {{"perm", {3, 1, 0, 2}}}));
  net.output(net.node("ConvTranspose", {"x", net.constant({20, 3, 2, 2})}, {{"strides", {2, 2}}}));
  net.check();
  Net product({7, 40});
  product.specials = true;
  product.output(product.node("MatMul", {"x", product.constant({40, 21})}));
  product.output(product.node("Gemm", {"x", product.constant({40, 5}), product.constant({5})}));
  product.check();
}

// Checks that session and reference give the same result, or both refuse, with the same place and
// kind.
void expect_as_reference(const Model& model, const std::map<std::string, Value>& feeds,
                         const std::string& place = "") {
  std::map<std::string, Value> expected;
  std::optional<Error> refused;
  try {
    expected = run(model, feeds);
  } catch (const Error& error) {
    refused = error;
  }
  EXPECT_EQ(refused ? refused->place : "", place) << (refused ? refused->message : "it runs");
  try {
    const std::map<std::string, Value> made = Session(model).run(feeds);
    EXPECT_FALSE(refused) << "it runs, but the reference says: " << refused->message;
    for (const auto& [name, value] : expected) {
      const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
      ASSERT_EQ(got.shape(), wanted.shape());
      for (Index k = 0; k < wanted.size(); ++k)
        ASSERT_EQ(got.data<float>()[k], wanted.data<float>()[k]) << name << ", element " << k;
    }
  } catch (const Error& error) {
    ASSERT_TRUE(refused) << error.place << ": " << error.message;
    EXPECT_EQ(error.kind, refused->kind) << error.message;
    EXPECT_EQ(error.place, refused->place) << error.message;
  }
}

TEST(Input, WindowsThatReachFarBeyondTheImage) {
  for (const Index far : {Index{1} << 20, Index{1} << 31, Index{1} << 40}) {
    const auto alone = [&](const std::string& op, std::map<std::string, std::vector<Index>> lists,
                           Shape weights = {}) {
      Net net({1, 3, 5, 6});
      std::vector<std::string> inputs{"x"};
      if (!weights.empty()) inputs.push_back(net.constant(std::move(weights)));
      net.output(net.node(op, std::move(inputs), std::move(lists)));
      return net.model();
    };
    const std::map<std::string, Value> feeds{{"x", whole({1, 3, 5, 6}, 1)}};
    const std::vector<Index> pads{far, far, far, far};
    expect_as_reference(alone("Conv", {{"pads", pads}, {"strides", {far, far}}}, {4, 3, 3, 3}),
                        feeds);
    expect_as_reference(alone("Conv", {{"pads", pads}, {"dilations", {far, far}}}, {4, 3, 3, 3}),
                        feeds);
    expect_as_reference(alone("Conv", {{"strides", {far, 1}}}, {16, 3, 1, 1}), feeds);
    expect_as_reference(
        alone("ConvTranspose", {{"pads", {0, 0, 0, 0}}, {"dilations", {far, 1}}}, {3, 4, 1, 3}),
        feeds);
    expect_as_reference(alone("MaxPool", {{"kernel_shape", {3, 3}}, {"strides", {far, far}}}),
                        feeds);
  }
}

TEST(Input, SizesThatNoMemoryHolds) {
  const Index far = Index{1} << 40;
  const std::map<std::string, Value> feeds{{"x", whole({1, 3}, 1)}};
  const auto with = [&](auto add) {
    Net net({1, 3});
    net.output(net.node("Relu", {add(net)}));
    return net.model();
  };
  for (const std::vector<Index>& sizes : {std::vector<Index>{far, 3}, {far, far, 1, 3}}) {
    expect_as_reference(with([&](Net& net) {
                          return net.node("Expand", {"x", net.integers(sizes)});
                        }),
                        feeds, "node 'n0' (Expand), output 'v0', main graph");
  }
  expect_as_reference(with([&](Net& net) {
                        return net.node("Tile", {"x", net.integers({far, 1})});
                      }),
                      feeds, "node 'n0' (Tile), output 'v0', main graph");
  expect_as_reference(with([&](Net& net) {
                        return net.node("Pad", {"x", net.integers({far, 0, 0, 0})});
                      }),
                      feeds, "node 'n0' (Pad), output 'v0', main graph");
  expect_as_reference(with([&](Net& net) {
                        return net.node("Reshape", {"x", net.integers({far, 3})});
                      }),
                      feeds, "node 'n0' (Reshape), output 'v0', main graph");
}

TEST(Input, HugeSizesOfNothing) {
  const Index far = Index{1} << 40;
  for (const Shape& shape : {Shape{far, 0}, Shape{0, far}}) {
    Net net(shape);
    net.output(net.node("Relu", {net.node("Add", {"x", "x"})}));
    net.output(net.node("Transpose", {"x"}, {{"perm", {1, 0}}}));
    net.output(net.node("Concat", {"x", "x"}, {}, {{"axis", 0}}));
    expect_as_reference(net.model(), {{"x", Tensor(Type::float32, shape)}});
  }
}

TEST(Input, FeedsThatDoNotFitSayWhichAndHow) {
  Net net({2, 3});
  net.output(net.node("Relu", {"x"}));
  Model model = net.model();
  model.graph.inputs[0].shape->front() = {{}, "n"};
  Session session(std::move(model));
  const auto refused = [&](std::map<std::string, Value> feeds, const std::string& rule) {
    try {
      session.run(std::move(feeds));
      ADD_FAILURE() << rule;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::usage);
      EXPECT_EQ(error.rule, rule) << error.message;
    }
    EXPECT_EQ(session.run({{"x", whole({4, 3}, 1)}}).size(), 1U);  // the session stays usable
  };
  refused({{"x", whole({2, 4}, 1)}}, "feed/shape");
  refused({{"x", whole({6}, 1)}}, "feed/shape");
  refused({{"x", Tensor(Type::float64, {2, 3})}}, "feed/type");
  refused({{"x", Value()}}, "feed/missing");
  refused({{"x", whole({2, 3}, 1)}, {"z", whole({2, 3}, 1)}}, "feed/name");
}

// A scalar that is computed in the run is an operand of fused kernels; Clip reads it as a number.
TEST(Input, ScalarsOfTheRun) {
  Net net({3, 40});
  const std::string s = net.node("ReduceMax", {"x"}, {}, {{"keepdims", 0}});
  const std::string scaled = net.node("Relu", {net.node("Mul", {"x", s})});
  net.output(net.node("Sub", {scaled, s}));
  net.output(net.node("Clip", {net.node("Div", {s, net.node("Add", {"x", "x"})}), "", s}));
  EXPECT_THAT(net.check(), ::testing::AllOf(::testing::HasSubstr("pointwise"),
                                            ::testing::Not(::testing::HasSubstr("Mul"))));
  for (const std::vector<std::string>& bounds : {std::vector<std::string>{s}, {"", s}, {s, s}}) {
    Net clips({3, 40});
    const std::string scalar = clips.node("ReduceMax", {"x"}, {}, {{"keepdims", 0}});
    std::vector<std::string> both{scalar};
    both.insert(both.end(), bounds.begin(), bounds.end());
    clips.output(clips.node("Clip", both));
    both[0] = clips.node("Neg", {scalar});
    clips.output(clips.node("Clip", both));
    if (!both[1].empty()) both[1] = clips.node("Sqrt", {clips.node("Abs", {scalar})});
    clips.output(clips.node("Clip", both));
    clips.check();
  }
}

}  // namespace
}  // namespace touchstone::optimized
