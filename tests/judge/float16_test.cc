// The judge on 16-bit floats. Class fast lets every operation round to 16 bits, class strict only
// the last one. A computation that the standard's `stash_type` sets to float32 must not use 16
// bits.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "conformance/judge/judge.h"
#include "core/numbers/convert.h"
#include "tests/judge/nodes.h"

namespace touchstone {
namespace {

Tensor float16(Type type, Shape shape, const std::vector<double>& values) {
  Tensor t(type, std::move(shape));
  for (Index k = 0; k < t.size(); ++k) set_number(t, k, values[static_cast<std::size_t>(k)]);
  return t;
}

double rounded(Type type, double x) { return static_cast<double>(decode(type, encode(type, x))); }

// A softmax with every intermediate value but the sum stored in `type`.
Tensor softmax_in(Type type, const Tensor& x) {
  double most = -1e30, sum = 0;
  for (Index k = 0; k < x.size(); ++k) most = std::max(most, static_cast<double>(number_at(x, k)));
  std::vector<double> e, y;
  for (Index k = 0; k < x.size(); ++k)
    e.push_back(
        rounded(type, std::exp(rounded(type, static_cast<double>(number_at(x, k)) - most))));
  for (const double each : e) sum += each;
  for (const double each : e) y.push_back(each / rounded(type, sum));
  return float16(type, x.shape(), y);
}

TEST(Float16, StepsMayRoundTo16BitsInClassFastAlone) {
  const Node node = node_of("Softmax", 13, 1);
  judge::JudgeOptions strict;
  strict.then_fast = false;
  for (const Type type : {Type::float16, Type::bfloat16}) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, 3);
    std::vector<double> values(64);
    for (double& v : values) v = normal(random);
    const Tensor x = float16(type, {1, 64}, values);
    const Tensor y = softmax_in(type, x);
    const judge::NodeJudgement judged = judge::judge_node(node, {x}, {y});
    EXPECT_EQ(judged.verdict, judge::Verdict::within) << judged.detail;
    EXPECT_EQ(judged.cls, Class::fast);
    EXPECT_EQ(judge::judge_node(node, {x}, {y}, strict).verdict, judge::Verdict::wrong_value);
    Tensor off = float16(type, {1, 64}, std::vector<double>(64));
    for (Index k = 0; k < y.size(); ++k) set_number(off, k, number_at(y, k) * 1.5L);
    EXPECT_EQ(judge::judge_node(node, {x}, {off}).verdict, judge::Verdict::wrong_value);
  }
}

TEST(Float16, AnElementOfFloatAmongThemMeansFloat) {
  const Node node = node_of("Softmax", 13, 1);
  Tensor x(Type::float32, {1, 64});
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 3);
  for (Index k = 0; k < 64; ++k) set_number(x, k, rounded(Type::float16, normal(random)));
  const Tensor y = softmax_in(Type::float16, x);
  Tensor wide(Type::float32, {1, 64});
  for (Index k = 0; k < 64; ++k) set_number(wide, k, number_at(y, k));
  EXPECT_EQ(judge::judge_node(node, {x}, {wide}).verdict, judge::Verdict::wrong_value);
}

// 60000 squared overflows float16 but is 3.6e9 in float32, the default of stash_type.
TEST(Float16, WhatIsComputedInFloatByTheTextStaysThere) {
  const Tensor x = float16(Type::float16, {2}, {60000, -60000}),
               scale = float16(Type::float16, {2}, {1, 1});
  const Tensor right = float16(Type::float16, {2}, {1, -1}),
               zeros = float16(Type::float16, {2}, {0, 0});
  const Node layer = node_of("LayerNormalization", 17, 2),
             root = node_of("RMSNormalization", 23, 2);
  for (const Node& node : {layer, root}) {
    EXPECT_TRUE(judge::is_pass(judge::judge_node(node, {x, scale}, {right}).verdict)) << node.op;
    EXPECT_EQ(judge::judge_node(node, {x, scale}, {zeros}).verdict, judge::Verdict::wrong_value)
        << node.op;
  }
}

// Scores of 2049 and 2048, which float16 stores as one number. Q102 allows that in class fast: the
// second key then weighs as much as the first. The type of V has no say.
TEST(Float16, ScoresOfAttentionMayBeStoredIn16Bits) {
  const Node node = node_of("Attention", 23, 3, {{"scale", Attribute{1.0F}}});
  for (const Type type : {Type::float16, Type::bfloat16}) {
    const double most = type == Type::float16 ? 2048 : 256;
    const Tensor q = float16(type, {1, 1, 1, 2}, {1, 1}),
                 k = float16(type, {1, 1, 2, 2}, {most, 1, most, 0});
    for (const Type of_values : {type, Type::float32, Type::float64}) {
      const Tensor v = float16(of_values, {1, 1, 2, 1}, {0, 1});
      const auto said = [&](double y, bool then_fast) {
        judge::JudgeOptions options;
        options.then_fast = then_fast;
        return judge::judge_node(node, {q, k, v}, {float16(type, {1, 1, 1, 1}, {y})}, options)
            .verdict;
      };
      SCOPED_TRACE(std::string(name(type)) + " " + std::string(name(of_values)));
      EXPECT_TRUE(judge::is_pass(said(1 / (1 + std::exp(1.0)), false)));
      EXPECT_EQ(said(0.5, false), judge::Verdict::wrong_value);
      EXPECT_EQ(said(0.5, true), judge::Verdict::open);
    }
  }
}

// Scores whose factors are stored in float16 after each has got its half of the scale: right for Q
// of float16, whatever V and the mask are, and wrong for Q of float.
TEST(Float16, OnlyTheTypeOfQDecidesInAttention) {
  constexpr Index keys = 64;
  Node node = node_of("Attention", 23, 4, 4, {{"scale", Attribute{0.3F}}});
  node.outputs[1] = node.outputs[2] = "";
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const double root = std::sqrt(0.3), query = rounded(Type::float16, 1.1);
  std::vector<double> k(keys), scores;
  for (double& x : k) x = rounded(Type::float16, normal(random));
  for (const double x : k)
    scores.push_back(rounded(Type::float16, query * root) * rounded(Type::float16, x * root));
  const auto said = [&](Type type, Type of_values, double factor) {
    std::vector<double> answer = scores;
    for (double& x : answer) x *= factor;
    return judge::judge_node(
               node,
               {float16(type, {1, 1, 1, 1}, {query}), float16(type, {1, 1, keys, 1}, k),
                Tensor(of_values, {1, 1, keys, 1}), Tensor(of_values, {keys})},
               {Tensor(type, {1, 1, 1, 1}), {}, {}, float16(type, {1, 1, 1, keys}, answer)})
        .verdict;
  };
  for (const Type of_values : {Type::float16, Type::float32, Type::float64}) {
    EXPECT_TRUE(judge::is_pass(said(Type::float16, of_values, 1))) << name(of_values);
    EXPECT_EQ(said(Type::float16, of_values, 1.05), judge::Verdict::wrong_value) << name(of_values);
  }
  EXPECT_EQ(said(Type::float32, Type::float32, 1), judge::Verdict::wrong_value);
  EXPECT_EQ(said(Type::float32, Type::float16, 1), judge::Verdict::wrong_value);
}

// Judges the answer of a Relu network of two steps whose first state is x * w, and whose second is
// half of that.
bool passes_after(double x, double w, double first, double second) {
  Attribute relu;
  relu.is = std::vector<std::string>{"Relu"};
  const Node node = node_of("RNN", 14, 3, {{"activations", relu}});
  const Tensor steps = float16(Type::float16, {2, 1, 1}, {x, 0}),
               weight = float16(Type::float16, {1, 1, 1}, {w}),
               r = float16(Type::float16, {1, 1, 1}, {0.5});
  const Tensor y = float16(Type::float16, {2, 1, 1, 1}, {first, second});
  return judge::is_pass(judge::judge_node(node, {steps, weight, r}, {y}).verdict);
}

// The first state is 120000, which float16 lacks and float has.
TEST(Float16, AStateThatOverflowedMayStayInFloat) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(passes_after(600, 200, infinity, 60000)) << "kept in float";
  EXPECT_TRUE(passes_after(600, 200, infinity, infinity)) << "rounded to float16";
  EXPECT_FALSE(passes_after(600, 200, infinity, 30000));
  EXPECT_FALSE(passes_after(600, 200, infinity, std::nan("")));
  EXPECT_FALSE(passes_after(600, 200, 65504, 60000)) << "120000 is no finite float16";
}

// States of 65526 and 65512: the largest float16 is 65504, and 65520 is the first to overflow.
TEST(Float16, AStateOverflowsFromHalfAnUlpPastTheLargest) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(passes_after(402, 163, infinity, 32768)) << "kept in float";
  EXPECT_TRUE(passes_after(402, 163, infinity, infinity)) << "rounded to float16";
  EXPECT_FALSE(passes_after(431, 152, infinity, 32752)) << "65512 does not overflow";
}

}  // namespace
}  // namespace touchstone
