// The judge accepts every answer that a question leaves to a runtime (`profiles:` and `open:` of
// the entries), and no other.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/judge/judge.h"
#include "core/numbers/convert.h"
#include "reference/rulings.h"
#include "tests/judge/nodes.h"

namespace touchstone {
namespace {

Tensor tensor(Type type, Shape shape, const std::vector<long double>& values) {
  Tensor t(type, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) set_number(t, k, values[static_cast<std::size_t>(k)]);
  return t;
}
Tensor floats(Shape shape, const std::vector<long double>& values) {
  return tensor(Type::float32, std::move(shape), values);
}
Tensor integers(Shape shape, const std::vector<long double>& values) {
  return tensor(Type::int64, std::move(shape), values);
}

template <class T>
Attribute attribute(T x) {
  Attribute a;
  a.is = std::move(x);
  return a;
}

// The verdict and its question: "profile Q006", "open Q011", "wrong-value".
std::string said(const Node& node, const std::vector<Value>& inputs,
                 const std::vector<Value>& answer) {
  const judge::NodeJudgement judged = judge::judge_node(node, inputs, answer);
  return std::string(judge::name(judged.verdict)) +
         (judged.question.empty() ? "" : " " + judged.question);
}

TEST(Rulings, AnyOrderOfTheChosenIsRightWhereNoneIsAskedFor) {
  const std::vector<Value> inputs = {floats({2, 4}, {1, 4, 2, 3, 5, 5, 0, 9}), integers({1}, {3})};
  const auto answer = [&](Index sorted, std::vector<long double> values,
                          std::vector<long double> places) {
    const Node node = node_of("TopK", 11, 2, 2, {{"sorted", attribute(sorted)}});
    return said(node, inputs, {floats({2, 3}, values), integers({2, 3}, places)});
  };
  EXPECT_EQ(answer(0, {4, 3, 2, 9, 5, 5}, {1, 3, 2, 3, 0, 1}), "exact");
  EXPECT_EQ(answer(0, {2, 4, 3, 5, 9, 5}, {2, 1, 3, 1, 3, 0}), "profile Q006");
  EXPECT_EQ(answer(1, {2, 4, 3, 5, 9, 5}, {2, 1, 3, 1, 3, 0}), "wrong-value") << "sorted";
  EXPECT_EQ(answer(0, {2, 4, 3, 5, 9, 5}, {2, 3, 1, 1, 3, 0}), "wrong-value")
      << "pairs are mixed up";
  EXPECT_EQ(answer(0, {2, 4, 1, 5, 9, 5}, {2, 1, 0, 1, 3, 0}), "wrong-value")
      << "1 is no one of the largest";
  EXPECT_EQ(answer(0, {4, 4, 3, 5, 9, 5}, {1, 1, 3, 1, 3, 0}), "wrong-value")
      << "one is there twice";
}

TEST(Rulings, WhatIsDividedByZeroIsOpenAndTheRestIsNot) {
  const Node divide = node_of("Div", 14, 2, 1), rest = node_of("Mod", 13, 2, 1);
  const std::vector<Value> inputs = {integers({2, 2}, {7, 8, -7, 9}), integers({2}, {0, 2})};
  EXPECT_EQ(said(divide, inputs, {integers({2, 2}, {0, 4, 5, 4})}), "profile Q008");
  EXPECT_EQ(said(divide, inputs, {integers({2, 2}, {0, 4, 5, 3})}), "accepted-invalid");
  EXPECT_EQ(said(rest, inputs, {integers({2, 2}, {7, 0, 5, 1})}), "profile Q008");
  EXPECT_EQ(said(rest, inputs, {integers({2, 2}, {7, 1, 5, 1})}), "accepted-invalid");
  EXPECT_EQ(said(divide, {integers({1}, {1}), integers({1}, {0})}, {integers({1}, {3})}),
            "open Q008");
}

TEST(Rulings, FloatsThatAnIntegerCannotHoldAreOpenAndTheRestIsNot) {
  const Node node = node_of("Cast", 13, 1, 1, {{"to", attribute(Index{3})}});
  const Value from = floats({5}, {std::nanl(""), 300, -128.5, 127.9, -129});
  const auto answer = [&](std::vector<long double> values) {
    return said(node, {from}, {tensor(Type::int8, {5}, values)});
  };
  EXPECT_EQ(answer({-1, 17, -128, 127, 5}), "profile Q011");
  EXPECT_EQ(answer({-1, 17, -128, 126, 5}), "wrong-value");
  EXPECT_EQ(answer({-1, 17, 5, 127, 5}), "wrong-value") << "-128.5 is -128 without its fraction";
  EXPECT_EQ(said(node, {floats({1}, {1000})}, {tensor(Type::int8, {1}, {3})}), "open Q011");
  EXPECT_EQ(said(node, {integers({1}, {1000})}, {tensor(Type::int8, {1}, {3})}), "wrong-value")
      << "integers keep their low bits";
}

TEST(Rulings, WhichElementsADrawSetsToZeroIsOpenAndWhatTheOthersBecomeIsNot) {
  const std::size_t n = 400;
  const Value x = floats({Index(n)}, std::vector<long double>(n, 3)), ratio = floats({}, {0.75L}),
              train = tensor(Type::boolean, {}, {1});
  std::vector<long double> kept(n), mask(n);
  for (std::size_t k = 0; k < n; k += 4) kept[k] = 12, mask[k] = 1;
  const Node both = node_of("Dropout", 13, 3, 2), one = node_of("Dropout", 13, 3, 1);
  const auto of_both = [&] {
    return said(both, {x, ratio, train},
                {floats({Index(n)}, kept), tensor(Type::boolean, {Index(n)}, mask)});
  };
  const auto of_one = [&] { return said(one, {x, ratio, train}, {floats({Index(n)}, kept)}); };
  EXPECT_EQ(of_both(), "open Q048");
  EXPECT_EQ(of_one(), "profile Q048");
  kept[4] = 11;
  EXPECT_EQ(of_both(), "wrong-value") << "another scale";
  EXPECT_EQ(of_one(), "wrong-value") << "another scale";
  kept[4] = 0;
  EXPECT_EQ(of_both(), "wrong-value") << "the mask says that it stays";
  EXPECT_EQ(of_one(), "profile Q048");
  std::fill(kept.begin(), kept.end(), 0);
  EXPECT_EQ(of_one(), "wrong-value") << "of four hundred a quarter stays";
}

TEST(Rulings, AnExtentBetweenTwoWholeNumbersMayBeEither) {
  const Node node = node_of("Resize", 13, 3, 1);
  std::vector<long double> x(10);
  for (std::size_t k = 0; k < 10; ++k) x[k] = static_cast<long double>(k + 1);
  const std::vector<Value> inputs = {floats({1, 10}, x), Value{}, floats({2}, {1, 0.7L})};
  EXPECT_TRUE(judge::is_pass(
      judge::judge_node(node, inputs, {floats({1, 7}, {1, 3, 4, 5, 7, 8, 10})}).verdict));
  EXPECT_EQ(said(node, inputs, {floats({1, 6}, {1, 3, 4, 6, 7, 8})}), "profile Q026");
  EXPECT_EQ(said(node, inputs, {floats({1, 6}, {1, 3, 4, 6, 7, 9})}), "wrong-shape");
  EXPECT_EQ(said(node, inputs, {floats({1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})}), "wrong-shape");
}

TEST(Rulings, AnotherRulingIsAProfile) {
  Node resize = node_of("Resize", 13, 3, 1);
  resize.attributes = {{"mode", attribute(std::string("linear"))},
                       {"coordinate_transformation_mode", attribute(std::string("align_corners"))}};
  const std::vector<Value> four = {floats({1, 4}, {1, 2, 3, 4}), Value{}, floats({2}, {1, 0.6L})};
  EXPECT_EQ(said(resize, four, {floats({1, 2}, {1, 4})}), "profile Q027");
  EXPECT_EQ(said(resize, four, {floats({1, 2}, {1, 3.9L})}), "wrong-value");
  const Attribute twos = attribute(std::vector<Index>{2, 2});
  const Node unpool = node_of("MaxUnpool", 11, 3, 1, {{"kernel_shape", twos}, {"strides", twos}});
  const std::vector<Value> pooled = {floats({1, 1, 1, 2}, {1, 2}), integers({1, 1, 1, 2}, {1, 7}),
                                     integers({4}, {1, 1, 2, 5})};
  EXPECT_EQ(said(unpool, pooled, {floats({1, 1, 2, 5}, {0, 1, 0, 0, 0, 0, 0, 0, 2, 0})}), "exact");
  EXPECT_EQ(said(unpool, pooled, {floats({1, 1, 2, 5}, {0, 1, 0, 0, 0, 0, 0, 2, 0, 0})}),
            "profile Q053");
  EXPECT_EQ(said(unpool, pooled, {floats({1, 1, 2, 5}, {0, 1, 0, 0, 0, 0, 2, 0, 0, 0})}),
            "wrong-value");
  const Node turned = node_of("ConvTranspose", 11, 2, 1,
                              {{"strides", attribute(std::vector<Index>{2})},
                               {"auto_pad", attribute(std::string("SAME_UPPER"))}});
  const std::vector<Value> two = {floats({1, 1, 2}, {1, 2}), floats({1, 1, 1}, {1})};
  EXPECT_EQ(said(turned, two, {floats({1, 1, 3}, {1, 0, 2})}), "profile Q054");
  EXPECT_EQ(said(turned, two, {floats({1, 1, 3}, {1, 0, 3})}), "wrong-shape");
  const Node clip = node_of("Clip", 13, 3, 1);
  const long double nan = std::nanl("");
  const std::vector<Value> unbounded = {floats({3}, {-5, 0.5L, 5}), floats({}, {nan}),
                                        floats({}, {1})};
  EXPECT_EQ(said(clip, unbounded, {floats({3}, {-5, 0.5L, 1})}), "exact");
  EXPECT_EQ(said(clip, unbounded, {floats({3}, {nan, nan, nan})}), "profile Q003");
  EXPECT_EQ(said(clip, unbounded, {floats({3}, {nan, 0.5L, nan})}), "wrong-value");
}

TEST(Rulings, EachNamesAQuestionAndSaysHow) {
  std::size_t found = 0;
  for (const Signature& signature : all_signatures()) {
    for (const Ruling& ruling : rulings_of(signature)) {
      EXPECT_EQ(ruling.question[0], 'Q') << signature.op;
      EXPECT_NE(ruling.native == nullptr, ruling.opening == nullptr) << signature.op;
      EXPECT_TRUE(ruling.opening || ruling.infer) << signature.op;
      ++found;
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(Rulings, WiderStatisticsAreConvertedToWhatXIsComputedIn) {
  const Node node = node_of("BatchNormalization", 14, 5, 1, {{"epsilon", attribute(0.0F)}});
  const std::vector<Value> inputs = {floats({2, 1}, {0.1F, 1}), floats({1}, {1}), floats({1}, {0}),
                                     tensor(Type::float64, {1}, {0.1}),
                                     tensor(Type::float64, {1}, {1})};
  const auto first = [&](long double y) { return said(node, inputs, {floats({2, 1}, {y, 0.9L})}); };
  EXPECT_EQ(first(0), "within") << "in float";
  EXPECT_EQ(first(0.1F - 0.1), "within") << "in double";
  EXPECT_EQ(first(1e-6L), "wrong-value");
}

TEST(Rulings, ValuesOfAttentionAreConvertedToTheTypeOfQ) {
  const Node node = node_of("Attention", 23, 3, 1);
  const std::vector<Value> inputs = {floats({1, 1, 1, 1}, {0}), floats({1, 1, 3, 1}, {1, 2, 3}),
                                     tensor(Type::float64, {1, 1, 3, 1}, {0.1, 0.1, 0.1})};
  const float next = std::nextafter(0.1F, 1.0F);
  EXPECT_EQ(said(node, inputs, {floats({1, 1, 1, 1}, {next})}), "within");
  EXPECT_EQ(said(node, inputs, {floats({1, 1, 1, 1}, {0.10001L})}), "wrong-value");
}

TEST(Rulings, EachRegionOfMaxRoiPoolNamesAnImage) {
  const auto answer = [&](float scale, const std::vector<long double>& region) {
    const Node node = node_of("MaxRoiPool", 1, 2, 1,
                              {{"pooled_shape", attribute(std::vector<Index>{2, 2})},
                               {"spatial_scale", attribute(scale)}});
    return said(node, {floats({1, 1, 1, 1}, {1}), floats({1, 5}, region)},
                {floats({1, 1, 2, 2}, {0, 0, 0, 0})});
  };
  EXPECT_EQ(answer(1, {0, 5, 5, 9, 9}), "exact") << "has no pixel";
  EXPECT_EQ(answer(1, {1, 5, 5, 9, 9}), "accepted-invalid");
  EXPECT_EQ(answer(1, {-1, 5, 5, 9, 9}), "accepted-invalid");
  const long double far = 3.4028235e38L;
  EXPECT_EQ(answer(-0.5F, {0, 1, far, 0.20978929L, 1}), "exact") << "may have pixels";
  EXPECT_EQ(answer(-0.5F, {1, 1, far, 0.20978929L, 1}), "accepted-invalid");
}

}  // namespace
}  // namespace touchstone
