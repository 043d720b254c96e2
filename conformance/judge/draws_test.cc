// Tests that random draws are judged by how often they occur.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/judge/judge.h"
#include "model/model.h"

namespace touchstone::judge {
namespace {

constexpr Index many = 1000;

Node draw(const char* op, std::vector<std::string> inputs) {
  Node node;
  node.op = op;
  node.signature = find_signature("", op, 15);
  node.inputs = std::move(inputs);
  node.outputs = {"y"};
  return node;
}

Tensor filled(const Shape& shape, float value) {
  Tensor out(Type::float32, shape);
  std::fill_n(out.data<float>(), out.size(), value);
  return out;
}

NodeJudgement normal(const Tensor& answer) {
  Node node = draw("RandomNormal", {});
  node.attributes["shape"].is = std::vector<Index>{answer.size()};
  return judge_node(node, {}, {answer});
}

// The answer k of n in the order of size, as faithful draws have it up to chance.
Tensor spread_out(Index n) {
  Tensor out(Type::float32, {n});
  for (Index k = 0; k < n; ++k) {
    const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
    // Logistic numbers with the deviation of normal ones come close.
    out.data<float>()[k] = static_cast<float>(std::log(share / (1 - share)) / 1.702);
  }
  return out;
}

TEST(Draws, ZerosAreNoNormalDraws) {
  EXPECT_EQ(normal(filled({many}, 0)).verdict, Verdict::wrong_value);
  EXPECT_EQ(normal(spread_out(many)).verdict, Verdict::within);
  EXPECT_EQ(normal(filled({20}, 0)).verdict, Verdict::open) << "too few to tell";
}

TEST(Draws, DetailNamesTheShare) {
  const std::string detail = normal(filled({many}, 0)).outputs[0].detail;
  EXPECT_NE(detail.find("frequencies"), std::string::npos) << detail;
}

TEST(Draws, TrialsAndClasses) {
  const Node trial = draw("Bernoulli", {"x"});
  const Tensor chances = filled({many}, 0.25F);
  EXPECT_EQ(judge_node(trial, {chances}, {filled({many}, 0)}).verdict, Verdict::wrong_value);
  Tensor quarter = filled({many}, 0);
  for (Index k = 0; k < many; k += 4) quarter.data<float>()[k] = 1;
  EXPECT_EQ(judge_node(trial, {chances}, {quarter}).verdict, Verdict::within);

  Node classes = draw("Multinomial", {"x"});
  classes.attributes["sample_size"].is = many;
  Tensor answer(Type::int32, {1, many});
  EXPECT_EQ(judge_node(classes, {filled({1, 2}, 0)}, {answer}).verdict, Verdict::wrong_value);
  for (Index k = 0; k < many; k += 2) answer.data<std::int32_t>()[k] = 1;
  EXPECT_EQ(judge_node(classes, {filled({1, 2}, 0)}, {answer}).verdict, Verdict::within);
}

}  // namespace
}  // namespace touchstone::judge
