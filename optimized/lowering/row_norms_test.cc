// Tests the family of row norms in sessions: the judge accepts every output, of each version, row
// length and layout of scales, with one thread and two, and with shapes known or not.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using NormAttributes = std::map<std::string, Index>;

constexpr std::array row_lengths{7, 8, 16, 31, 197, 1000};

Tensor drawn_numbers(Shape shape, unsigned seed, float spread = 4) {
  std::mt19937 random(seed);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k)
    t.data<float>()[k] = (static_cast<float>(random() % 20001) / 10000 - 1) * spread;
  return t;
}
Tensor listed_numbers(std::vector<float> items, Shape shape) {
  Tensor t(Type::float32, std::move(shape));
  std::copy(items.begin(), items.end(), t.data<float>());
  return t;
}

struct NormCall {
  std::string op;
  Index opset;
  std::vector<Tensor> inputs;
  NormAttributes attributes = {};
  std::optional<float> epsilon = {};
  std::size_t outputs = 1;
};

// Returns a model of one node, whose inputs are all fed.
Model norm_model(const NormCall& one, bool known) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = one.opset;
  model.graph.name = "one";
  Node node;
  node.op = one.op;
  for (const auto& [name, number] : one.attributes) node.attributes[name].is = number;
  if (one.epsilon) node.attributes["epsilon"].is = *one.epsilon;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    ValueInfo fed = info("x" + std::to_string(k), one.inputs[k].shape());
    fed.type = tensor_type(one.inputs[k].type());
    if (!known) fed.shape.reset();
    node.inputs.push_back(fed.name);
    model.graph.inputs.push_back(fed);
  }
  for (std::size_t k = 0; k < one.outputs; ++k) {
    ValueInfo made;
    made.name = "y" + std::to_string(k);
    made.type = tensor_type(k == 0 ? one.inputs[0].type() : Type::float32);
    node.outputs.push_back(made.name);
    model.graph.outputs.push_back(made);
  }
  model.graph.nodes.push_back(std::move(node));
  resolve(model);
  return model;
}

std::string norm_kernels(const Session& session) {
  std::string kernels;
  for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  return kernels;
}

std::map<std::string, Value> norm_feeds(const NormCall& one) {
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < one.inputs.size(); ++k)
    feeds.emplace("x" + std::to_string(k), one.inputs[k]);
  return feeds;
}

// `kernel`: opens the name of the kernel that must run.
void judge_norm(const NormCall& one, const std::string& kernel) {
  const std::map<std::string, Value> feeds = norm_feeds(one);
  for (const bool known : {true, false}) {
    const Model model = norm_model(one, known);
    for (const Index threads : {1, 2}) {
      Session session(model, {.threads = threads});
      for (int again = 0; again < 2; ++again)
        EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "")
            << one.op << " of " << text(one.inputs[0].shape());
      EXPECT_THAT(norm_kernels(session), HasSubstr(kernel)) << one.op;
    }
  }
}

// Requires the reference's numbers: for outputs that are too much alike for the judge.
void compare_norm(const NormCall& one, const std::string& kernel) {
  const std::map<std::string, Value> feeds = norm_feeds(one);
  const Model model = norm_model(one, true);
  const std::map<std::string, Value> expected = run(model, feeds);
  Session session(model);
  const std::map<std::string, Value> made = session.run(feeds);
  EXPECT_THAT(norm_kernels(session), HasSubstr(kernel)) << one.op;
  for (const auto& [name, value] : expected) {
    const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
    ASSERT_EQ(got.shape(), wanted.shape());
    for (Index k = 0; k < wanted.size(); ++k) {
      const float a = wanted.data<float>()[k], b = got.data<float>()[k];
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << one.op << ' ' << name << ": " << b;
    }
  }
}

TEST(RowNorms, RowsOfOneNumber) {
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    compare_norm({op, 13, {drawn_numbers({3, 5, 1}, 1)}}, "softmax ");
    compare_norm({op, 7, {drawn_numbers({3, 4}, 4)}, {{"axis", 2}}}, "softmax ");
  }
  const Tensor x = drawn_numbers({15, 1}, 9), scale = drawn_numbers({1}, 10),
               bias = drawn_numbers({1}, 11);
  compare_norm({"LayerNormalization", 17, {x, scale, bias}, {}, {}, 2}, "layer norm ");
  judge_norm({"RMSNormalization", 23, {x, scale}, {}, 2.0F}, "root mean square norm ");
}

TEST(RowNorms, SoftmaxOfEachLength) {
  for (const Index length : row_lengths) {
    judge_norm({"Softmax", 13, {drawn_numbers({3, 5, length}, 1)}}, "softmax ");
    judge_norm({"LogSoftmax", 13, {drawn_numbers({3, 5, length}, 2)}}, "log softmax ");
  }
}

TEST(RowNorms, SoftmaxOfEachVersionAndAxis) {
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const Index opset : {7, 11}) {
      for (const Index axis : {0, 1, 2, -1, -3})
        judge_norm({op, opset, {drawn_numbers({3, 4, 9}, 3)}, {{"axis", axis}}}, "softmax ");
      judge_norm({op, opset, {drawn_numbers({3, 4, 9}, 3)}}, "softmax ");
    }
  }
}

TEST(RowNorms, SoftmaxAlongAnAxisThatIsNotTheLast) {
  const NormCall last{"Softmax", 13, {drawn_numbers({3, 9, 1, 1}, 5)}, {{"axis", 1}}};
  const Model model = norm_model(last, true);
  Session session(model);
  const auto feeds = norm_feeds(last);
  EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "");
  EXPECT_THAT(norm_kernels(session), HasSubstr("softmax "));
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    for (const Index inner : {2, 16, 37, 150}) {
      for (const Index axis : {0, 1})
        judge_norm({op, 13, {drawn_numbers({3, 9, inner}, 5)}, {{"axis", axis}}}, "softmax ");
      const Tensor special = with_specials(drawn_numbers({40, inner}, 6));
      judge_norm({op, 13, {special}, {{"axis", 0}}}, "softmax ");
      judge_norm({op, 13, {drawn_numbers({1, 70, inner}, 7, 60)}, {{"axis", 1}}}, "softmax ");
    }
    compare_norm({op, 13, {drawn_numbers({3, 1, 5}, 8)}, {{"axis", 1}}}, "softmax ");
    judge_norm({op, 13, {drawn_numbers({3, 0, 5}, 8)}, {{"axis", 1}}}, "softmax ");
  }
}

TEST(RowNorms, SoftmaxOfSpecialAndDistantNumbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), most = 3e38F;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor rows =
      listed_numbers({1, 2, nan,       4, 5, infinity,  1,         2,         3,         infinity,
                      0, 1, 2,         3, 4, -infinity, -infinity, -infinity, -infinity, -infinity,
                      0, 1, -infinity, 3, 4, -most,     most,      0,         1,         most},
                     {6, 5});
  for (const char* const op : {"Softmax", "LogSoftmax"}) {
    judge_norm({op, 13, {rows}}, "softmax ");
    for (const Index length : {9, 197}) {
      const Tensor special = with_specials(drawn_numbers({8, length}, 6));
      length < 100 ? judge_norm({op, 13, {special}}, "softmax ")
                   : compare_norm({op, 13, {special}}, "softmax ");  // every row is NaN
      judge_norm({op, 13, {drawn_numbers({8, length}, 7, 60)}}, "softmax ");
      compare_norm({op, 13, {drawn_numbers({8, length}, 8, 1e30F)}}, "softmax ");
    }
  }
}

TEST(RowNorms, LayersOfEachLength) {
  for (const Index length : row_lengths) {
    const Tensor x = drawn_numbers({3, 5, length}, 9), scale = drawn_numbers({length}, 10);
    const Tensor bias = drawn_numbers({length}, 11);
    judge_norm({"LayerNormalization", 17, {x, scale, bias}, {}, {}, 3}, "layer norm ");
    judge_norm({"LayerNormalization", 17, {x, scale}, {}, 0.5F, 2}, "layer norm ");
    judge_norm({"RMSNormalization", 23, {x, scale}}, "root mean square norm ");
  }
}

TEST(RowNorms, LayersOfEachAxisAndLayoutOfScales) {
  const Tensor x = drawn_numbers({3, 4, 9}, 12), one = drawn_numbers({1, 1}, 13),
               none = listed_numbers({2}, {});
  for (const Index axis : {0, 1, 2, -1, -2, -3}) {
    judge_norm({"LayerNormalization", 17, {x, one, none}, {{"axis", axis}}, {}, 3}, "layer norm ");
    judge_norm({"RMSNormalization", 23, {x, none}, {{"axis", axis}}}, "root mean square norm ");
  }
  judge_norm({"LayerNormalization", 17, {x, drawn_numbers({4, 9}, 14), one}, {{"axis", 1}}},
             "layer norm ");
  judge_norm({"LayerNormalization", 17, {x, drawn_numbers({1, 4, 9}, 15)}, {{"axis", -2}}},
             "layer norm ");
  judge_norm({"LayerNormalization", 17, {x, drawn_numbers({1, 1, 9}, 16)}}, "layer norm ");
  judge_norm({"RMSNormalization", 23, {x, drawn_numbers({3, 4, 9}, 17)}, {{"axis", 0}}},
             "root mean square norm ");
}

TEST(RowNorms, ScalesThatVaryBetweenRows) {
  const NormCall one{
      "LayerNormalization", 17, {drawn_numbers({3, 4, 9}, 18), drawn_numbers({4, 1}, 19)}};
  const Model model = norm_model(one, true);
  Session session(model);
  const auto feeds = norm_feeds(one);
  EXPECT_EQ(why_refused(model, feeds, session.run(feeds)), "");
  EXPECT_THAT(norm_kernels(session), Not(HasSubstr("layer norm ")));
}

TEST(RowNorms, LayersOfSpecialAndConstantNumbers) {
  for (const Index length : {5, 40}) {
    const Tensor scale = drawn_numbers({length}, 20), bias = drawn_numbers({length}, 21);
    const Tensor special = with_specials(drawn_numbers({9, length}, 22)),
                 zeros(Type::float32, {3, length});
    Tensor same(Type::float32, {3, length});
    std::fill_n(same.data<float>(), same.size(), 5.0F);
    for (const Tensor& x : {special, zeros, same}) {
      judge_norm({"LayerNormalization", 17, {x, scale, bias}, {}, {}, 3}, "layer norm ");
      judge_norm({"RMSNormalization", 23, {x, scale}}, "root mean square norm ");
      judge_norm({"RMSNormalization", 23, {x, scale}, {}, 0.0F}, "root mean square norm ");
    }
  }
}

TEST(RowNorms, InstancesAndGroups) {
  for (const Index side : {1, 3, 6, 17}) {
    const Tensor x = drawn_numbers({2, 6, side, side}, 23), scale = drawn_numbers({6}, 24),
                 bias = drawn_numbers({6}, 25);
    for (const Index opset : {6, 22})
      judge_norm({"InstanceNormalization", opset, {x, scale, bias}}, "instance norm ");
    for (const Index groups : {1, 2, 6}) {
      const NormAttributes attributes{{"num_groups", groups}};
      judge_norm({"GroupNormalization", 21, {x, scale, bias}, attributes, 0.25F}, "group norm ");
      judge_norm({"GroupNormalization",
                  18,
                  {x, drawn_numbers({groups}, 26), drawn_numbers({groups}, 27)},
                  attributes},
                 "group norm ");
    }
  }
  const Tensor special = with_specials(drawn_numbers({2, 6, 11}, 28));
  judge_norm(
      {"InstanceNormalization", 22, {special, drawn_numbers({6}, 29), drawn_numbers({6}, 30)}},
      "instance norm ");
}

Tensor in_double(const Tensor& from) {
  Tensor made(Type::float64, from.shape());
  std::copy_n(from.data<float>(), from.size(), made.data<double>());
  return made;
}

TEST(RowNorms, RowsOfDoubles) {
  for (const Index length : {1, 2, 7, 100}) {
    const Tensor x = in_double(drawn_numbers({3, 5, length}, 37));
    for (const char* const op : {"Softmax", "LogSoftmax"}) {
      if (length > 1) judge_norm({op, 13, {x}}, "softmax of doubles");
      judge_norm({op, 11, {x}, {{"axis", 1}}}, "softmax of doubles");
    }
    const Tensor scale = in_double(drawn_numbers({length}, 38));
    const Tensor bias = in_double(drawn_numbers({1}, 39));
    if (length > 2) {
      judge_norm({"LayerNormalization", 17, {x, scale}}, "layer norm of doubles");
      judge_norm({"LayerNormalization", 17, {x, bias, scale}, {}, 0.5F, 3},
                 "layer norm of doubles");
    }
  }
  const Tensor special = in_double(with_specials(drawn_numbers({12, 30}, 40)));
  const Tensor scale = in_double(drawn_numbers({30}, 41));
  judge_norm({"Softmax", 13, {special}}, "softmax of doubles");
  judge_norm({"LogSoftmax", 13, {special}}, "softmax of doubles");
  judge_norm({"LayerNormalization", 17, {special, scale}}, "layer norm of doubles");
  judge_norm({"Softmax", 13, {in_double(drawn_numbers({4, 0}, 42))}}, "softmax of doubles");
  judge_norm({"Softmax", 13, {in_double(drawn_numbers({4, 3, 2}, 43))}, {{"axis", 1}}},
             "reference");
}

TEST(RowNorms, NothingToNormalize) {
  judge_norm({"Softmax", 13, {drawn_numbers({0, 4}, 31)}}, "softmax ");
  judge_norm({"LogSoftmax", 13, {drawn_numbers({4, 0}, 31)}}, "softmax ");
  judge_norm({"Softmax", 11, {drawn_numbers({4, 0, 3}, 31)}}, "softmax ");
  judge_norm(
      {"LayerNormalization", 17, {drawn_numbers({0, 4}, 31), drawn_numbers({4}, 32)}, {}, {}, 3},
      "layer norm ");
  const NormCall empty_rows{
      "LayerNormalization", 17, {drawn_numbers({4, 0}, 31), drawn_numbers({0}, 32)}};
  EXPECT_EQ(
      Session(norm_model(empty_rows, true)).run(norm_feeds(empty_rows)).at("y0").tensor().shape(),
      (Shape{4, 0}));
}

TEST(RowNorms, BatchesWithFedStatistics) {
  const auto positive = [](Tensor x) {
    for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] = std::fabs(x.data<float>()[k]);
    return x;
  };
  const Tensor scale = drawn_numbers({6}, 44), bias = drawn_numbers({6}, 45);
  const Tensor mean = drawn_numbers({6}, 46), variance = positive(drawn_numbers({6}, 47));
  const std::string kernel = "rows of BatchNormalization";
  for (const Shape& shape : {Shape{3, 6}, {3, 6, 1}, {2, 6, 5, 7}, {1, 6, 3, 4, 3}, {0, 6, 2}}) {
    for (const bool special : {false, true}) {
      Tensor x = drawn_numbers(shape, 48);
      if (special) x = with_specials(x);
      for (const Index opset : {9, 15})
        judge_norm({"BatchNormalization", opset, {x, scale, bias, mean, variance}}, kernel);
    }
  }
  Tensor uneven = drawn_numbers({6}, 44);  // no factor stands for the second channel's
  uneven.data<float>()[1] = 0;
  for (const Shape& shape : {Shape{37, 6}, {9, 6, 3}, {5, 6, 40}})
    judge_norm({"BatchNormalization", 15, {drawn_numbers(shape, 51), uneven, bias, mean, variance}},
               kernel);
  const auto one = [](float number) { return listed_numbers({number}, {1}); };
  judge_norm({"BatchNormalization", 15, {drawn_numbers({40}, 49), one(2), one(3), one(1), one(4)}},
             kernel);
  // Factors that would be zero or infinite, unlike the products; and others that are zero or NaN.
  const Tensor small = drawn_numbers({2, 1, 40}, 50, 1e-5F);
  const Tensor large = drawn_numbers({2, 1, 40}, 50, 1e30F);
  const auto with = [&](const Tensor& x, float factor, float wide) {
    return NormCall{
        "BatchNormalization", 15, {x, one(factor), one(0), one(0), one(wide)}, {}, 1e-20F};
  };
  judge_norm(with(large, 1e-30F, 3e38F), kernel);
  judge_norm(with(small, 1e30F, 0), kernel);
  compare_norm(with(large, 0, 1), kernel);
  compare_norm(with(large, 1, -1), kernel);
}

TEST(RowNorms, TrigonometricFunctions) {
  for (const char* const op : {"Sin", "Cos", "Tan", "Asin", "Acos", "Atan"}) {
    const std::string kernel = std::string("elements ") + op;
    for (const float spread : {1e-3F, 1.0F, 20.0F, 1e7F, 1e38F})
      judge_norm({op, 7, {drawn_numbers({3, 111}, 55, spread)}}, kernel);
    judge_norm({op, 22, {with_specials(drawn_numbers({70}, 56, 1))}}, kernel);
  }
}

// A call that violates a rule is refused by the reference.
TEST(RowNorms, AnAxisOutsideOfTheRank) {
  const NormCall past{"Softmax", 11, {drawn_numbers({3, 4}, 33)}, {{"axis", 2}}};
  EXPECT_THROW(Session(norm_model(past, false)).run(norm_feeds(past)), Error);
  const NormCall uneven{"GroupNormalization",
                        21,
                        {drawn_numbers({2, 5}, 34), drawn_numbers({5}, 35), drawn_numbers({5}, 36)},
                        {{"num_groups", 2}}};
  EXPECT_THROW(Session(norm_model(uneven, false)).run(norm_feeds(uneven)), Error);
}

}  // namespace
}  // namespace touchstone::optimized
