// The judge on outputs that select or draw. It follows a selection that rounding may decide; any
// other selection has one answer. A draw may be any value that the distribution allows.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/judge/judge.h"
#include "reference/interpreter.h"
#include "tests/judge/nodes.h"

namespace touchstone {
namespace {

using Attributes = std::map<std::string, Attribute>;

Tensor indices(Shape shape, const std::vector<Index>& data) {
  Tensor t(Type::int64, std::move(shape));
  std::copy(data.begin(), data.end(), t.data<Index>());
  return t;
}
Tensor bools(const std::vector<bool>& data) {
  Tensor t(Type::boolean, {static_cast<Index>(data.size())});
  std::copy(data.begin(), data.end(), t.data<bool>());
  return t;
}

// NonMaxSuppression of two boxes of height 1 over [0, 1] and [shift, 1 + shift]: their IoU is (1 -
// shift) / (1 + shift).
judge::Verdict boxes(float shift, float threshold, const Tensor& answer) {
  const Node node = node_of("NonMaxSuppression", 11, 4);
  const Tensor corners = floats({1, 2, 4}, {0, 0, 1, 1, 0, shift, 1, 1 + shift}),
               scores = floats({1, 1, 2}, {2, 1});
  return judge::judge_node(node, {corners, scores, indices({1}, {2}), floats({1}, {threshold})},
                           {answer})
      .verdict;
}
const Tensor& both() {
  static const Tensor rows = indices({2, 3}, {0, 0, 0, 0, 0, 1});
  return rows;
}
const Tensor& first() {
  static const Tensor rows = indices({1, 3}, {0, 0, 0});
  return rows;
}

TEST(JudgeChoices, ABoxThatRoundingDecidesOnMayStayOrFall) {
  const float share = (1 - 0.3F) / (1 + 0.3F);
  EXPECT_EQ(boxes(0.3F, share, both()), judge::Verdict::exact);
  EXPECT_EQ(boxes(0.3F, share, first()), judge::Verdict::exact);
}

TEST(JudgeChoices, ABoxThatNoRoundingDecidesOnHasOneAnswer) {
  EXPECT_EQ(boxes(0.3F, 0.6F, both()), judge::Verdict::exact);
  EXPECT_EQ(boxes(0.3F, 0.6F, first()), judge::Verdict::wrong_shape);
  EXPECT_EQ(boxes(0.3F, 0.5F, first()), judge::Verdict::exact);
  EXPECT_EQ(boxes(0.3F, 0.5F, both()), judge::Verdict::wrong_shape);
  EXPECT_EQ(boxes(0.5F, 1.0F / 3, indices({2, 3}, {0, 0, 1, 0, 0, 0})), judge::Verdict::wrong_value)
      << "the higher score is first";
}

TEST(JudgeChoices, ADrawMayBeWhatCanBeDrawn) {
  const Node even =
      node_of("RandomUniform", 22, 0, 1,
              {{"shape", Attribute{std::vector<Index>{2}}}, {"high", Attribute{2.0F}}});
  EXPECT_EQ(judge::judge_node(even, {}, {floats({2}, {0.5F, 1.75F})}).verdict,
            judge::Verdict::open);
  EXPECT_EQ(judge::judge_node(even, {}, {floats({2}, {0.5F, 2.5F})}).verdict,
            judge::Verdict::wrong_value);
  EXPECT_EQ(judge::judge_node(even, {}, {floats({2}, {0.5F, std::nanf("")})}).verdict,
            judge::Verdict::wrong_value);
  EXPECT_EQ(judge::judge_node(even, {}, {floats({3}, {0.5F, 1, 1})}).verdict,
            judge::Verdict::wrong_shape);

  const Node ones = node_of("Bernoulli", 22, 1);
  const Tensor chances = floats({3}, {0, 1, 0.5F});
  EXPECT_EQ(judge::judge_node(ones, {chances}, {floats({3}, {0, 1, 1})}).verdict,
            judge::Verdict::exact)
      << "the certain ones are judged";
  EXPECT_EQ(judge::judge_node(ones, {chances}, {floats({3}, {1, 1, 1})}).verdict,
            judge::Verdict::wrong_value);
}

TEST(JudgeChoices, AClassWithoutAProbabilityCannotBeDrawn) {
  const Node node = node_of("Multinomial", 22, 1, {{"sample_size", Attribute{Index{2}}}});
  const auto verdict = [&](const std::vector<float>& logs, const std::vector<int>& drawn) {
    Tensor answer(Type::int32, {static_cast<Index>(logs.size()) / 4, 2});
    std::copy(drawn.begin(), drawn.end(), answer.data<std::int32_t>());
    return judge::judge_node(node, {floats({answer.shape()[0], 4}, logs)}, {answer}).verdict;
  };
  const float never = -std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> logs = {never, 1, never, -200, never, never, 3, never};
  EXPECT_EQ(verdict(logs, {1, 3, 2, 2}), judge::Verdict::exact) << "the second row is certain";
  EXPECT_EQ(verdict(logs, {3, 3, 2, 2}), judge::Verdict::exact) << "unlikely, but not impossible";
  EXPECT_EQ(verdict(logs, {1, 2, 2, 2}), judge::Verdict::wrong_value)
      << "between two that can be drawn";
  EXPECT_EQ(verdict(logs, {0, 1, 2, 2}), judge::Verdict::wrong_value) << "before the first";
  EXPECT_EQ(verdict(logs, {1, 3, 2, 3}), judge::Verdict::wrong_value) << "a class of the other row";
  EXPECT_EQ(verdict(logs, {1, 4, 2, 2}), judge::Verdict::wrong_value) << "no class";
  EXPECT_EQ(verdict({0, 0, 0, 0}, {0, 3}), judge::Verdict::open);
  EXPECT_EQ(verdict({never, never, never, never}, {0, 0}), judge::Verdict::accepted_invalid);
  EXPECT_EQ(verdict({0, nan, 0, 0}, {0, 0}), judge::Verdict::accepted_invalid);
  EXPECT_EQ(verdict({0, -never, 0, 0}, {1, 1}), judge::Verdict::accepted_invalid);
}

// Q081 leaves open what a runtime makes of it.
TEST(JudgeChoices, AChanceThatIsNoProbabilityIsOpen) {
  const Node node = node_of("Bernoulli", 22, 1);
  for (const float chance : {1.5F, -0.5F, std::nanf("")}) {
    const Tensor chances = floats({2}, {0.5F, chance});
    const auto verdict = [&](float drawn) {
      return judge::judge_node(node, {chances}, {floats({2}, {0, drawn})}).verdict;
    };
    EXPECT_EQ(verdict(1), judge::Verdict::open);
    EXPECT_EQ(verdict(2), judge::Verdict::wrong_value);
  }
}

TEST(JudgeChoices, DropoutFollowsItsMask) {
  const Node node = node_of("Dropout", 13, 3, 2);
  Tensor trains(Type::boolean, {});
  *trains.data<bool>() = true;
  const std::vector<Value> inputs{floats({3}, {1, 2, 3}), floats({}, {0.5F}), trains};
  const auto verdict = [&](const std::vector<float>& data, const std::vector<bool>& mask) {
    return judge::judge_node(node, inputs, {floats({3}, data), bools(mask)}).verdict;
  };
  EXPECT_EQ(verdict({2, 0, 6}, {true, false, true}), judge::Verdict::open)
      << "the mask is open, the elements are right";
  EXPECT_EQ(verdict({0, 4, 0}, {false, true, false}), judge::Verdict::open);
  EXPECT_EQ(verdict({2, 0, 6}, {true, true, true}), judge::Verdict::wrong_value);
  EXPECT_EQ(verdict({1, 0, 3}, {true, false, true}), judge::Verdict::wrong_value) << "not scaled";
}

}  // namespace
}  // namespace touchstone
