// Tests joint judgement of nodes: right if a faithful runtime may have given it, wrong only past
// every bound.
#include "conformance/compare/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/compare/testing.h"

namespace touchstone::compare {
namespace {

using testing::chain;
using testing::floats;
using testing::node;
using Values = std::map<std::string, Value>;
using Positions = std::set<Index>;

Model fused() {
  return chain({node("Exp", {"x"}, "a"), node("Neg", {"a"}, "b"), node("Abs", {"b"}, "y")});
}

// Longer than a list of sizes may be: 0, 1/32 ... 18/32 and 1.
Tensor inputs() {
  std::vector<float> values;
  for (int k = 0; k < 19; ++k) values.push_back(static_cast<float>(k) / 32);
  values.push_back(1);
  return floats(values);
}

// exp of the inputs, with the last result too large by `ulps` units in the last place.
std::vector<float> results(int ulps) {
  std::vector<float> values;
  for (int k = 0; k < 20; ++k) values.push_back(std::exp(inputs().data<float>()[k]));
  values.back() += static_cast<float>(ulps) * 0x1p-22F;
  return values;
}

TEST(Region, ItsNodesMakeOrUseWhatIsHidden) {
  const Model model = fused();
  EXPECT_EQ(region_around(model, {"a"}), (Positions{0, 1}));
  EXPECT_EQ(region_around(model, {"b"}), (Positions{1, 2}));
  EXPECT_EQ(region_around(model, {"a", "b"}), (Positions{0, 1, 2}));
  EXPECT_EQ(region_around(model, {}), Positions{});
}

TEST(Region, WhatLiesBetweenMayHaveUsedUpItsBound) {
  const Model model = fused();
  const Values seen{{"x", inputs()}, {"y", floats(results(2))}};
  const RegionJudgement found = judge_region(model, {0, 1, 2}, seen, {});
  EXPECT_EQ(found.verdict, judge::Verdict::within) << found.detail;
  ASSERT_EQ(found.shown.size(), 1u);
  EXPECT_EQ(found.shown[0].node->outputs[0], "y");
  EXPECT_LE(found.shown[0].judgement.outputs[0].utilisation_max, 1);
}

TEST(Region, PastTheBoundOfAllIsWrong) {
  const Model model = fused();
  const Values seen{{"x", inputs()}, {"y", floats(results(20))}};
  const RegionJudgement found = judge_region(model, {0, 1, 2}, seen, {});
  EXPECT_EQ(found.verdict, judge::Verdict::wrong_value) << found.detail;
  ASSERT_EQ(found.shown.size(), 1u);
  EXPECT_EQ(found.shown[0].judgement.outputs[0].where, 19);
}

TEST(Region, BoundsGoThroughMoves) {
  Node concat = node("Concat", {"a", "x"}, "b");
  concat.attributes["axis"].is = Index{0};
  const Model model = chain({node("Exp", {"x"}, "a"), concat, node("Neg", {"b"}, "y")});
  const auto judged = [&](int ulps) {
    std::vector<float> y = results(ulps);
    for (int k = 0; k < 20; ++k) y.push_back(inputs().data<float>()[k]);
    for (float& value : y) value = -value;
    return judge_region(model, {0, 1, 2}, {{"x", inputs()}, {"y", floats(y)}}, {}).verdict;
  };
  EXPECT_EQ(judged(2), judge::Verdict::within);
  EXPECT_EQ(judged(20), judge::Verdict::wrong_value);
}

// The elements decide their places, so places found with other elements in them mean nothing.
TEST(Region, AnOrderOfWhatWasNotSeenIsOpen) {
  Node top = node("TopK", {"b", "k"}, "c");
  top.outputs.emplace_back("places");
  Model model =
      chain({node("Exp", {"x"}, "a"), node("Neg", {"a"}, "b"), top, node("Abs", {"c"}, "y")});
  Tensor count(Type::int64, {1});
  count.data<Index>()[0] = 20;
  model.graph.initializers.emplace("k", count);
  const Values seen{{"x", inputs()}, {"y", floats(results(0))}};
  EXPECT_EQ(judge_region(model, {0, 1, 2, 3}, seen, {}).verdict, judge::Verdict::open);
}

TEST(Region, AChoiceByWhatWasNotSeenIsOpen) {
  const Model model = chain({node("Exp", {"x"}, "a"), node("ArgMax", {"a"}, "y")});
  const Values seen{{"x", inputs()}, {"y", Tensor(Type::int64, {1})}};
  const RegionJudgement found = judge_region(model, {0, 1}, seen, {});
  EXPECT_EQ(found.verdict, judge::Verdict::open);
  EXPECT_NE(found.detail, "");
}

TEST(Region, AShapeReadsNoElement) {
  const auto judged = [](Index size) {
    Tensor shape(Type::int64, {1});
    shape.data<Index>()[0] = size;
    const Model model = chain({node("Exp", {"x"}, "a"), node("Shape", {"a"}, "y")});
    return judge_region(model, {0, 1}, {{"x", inputs()}, {"y", shape}}, {}).verdict;
  };
  EXPECT_FALSE(judge::is_fail(judged(20)));
  EXPECT_NE(judged(20), judge::Verdict::open);
  EXPECT_TRUE(judge::is_fail(judged(19)));
}

TEST(Region, AShortListMayBeScales) {
  const Model model = chain({node("Exp", {"x"}, "a"), node("Resize", {"image", "", "a"}, "y")});
  const Values seen{{"x", floats({0})}, {"image", inputs()}, {"y", inputs()}};
  const RegionJudgement found = judge_region(model, {0, 1}, seen, {});
  EXPECT_EQ(found.verdict, judge::Verdict::open);
  EXPECT_THAT(found.detail, ::testing::HasSubstr("short list")) << found.detail;
}

TEST(Region, AShortListThatNoPlanReadsHasBounds) {
  const auto judged = [](float y) {
    return judge_region(fused(), {0, 1, 2}, {{"x", floats({1})}, {"y", floats({y})}}, {}).verdict;
  };
  EXPECT_EQ(judged(2.7182820F), judge::Verdict::within);
  EXPECT_EQ(judged(2.7183F), judge::Verdict::wrong_value);
}

TEST(Region, WhatCannotBeJudgedHidesNothingElse) {
  const Model model = chain({node("Exp", {"x"}, "a"), node("ArgMax", {"a"}, "place"),
                             node("Cast", {"place"}, "n"), node("Neg", {"a"}, "y")});
  const auto judged = [&](int ulps, bool place_is_seen) {
    Values seen{{"x", inputs()}, {"y", floats(results(ulps))}};
    for (Index k = 0; k < 20; ++k) {
      float& y = std::get<Tensor>(seen.at("y").is).data<float>()[k];
      y = -y;
    }
    if (place_is_seen) seen.emplace("n", floats({19}));
    return judge_region(model, {0, 1, 2, 3}, seen, {});
  };
  EXPECT_EQ(judged(2, false).verdict, judge::Verdict::within);
  EXPECT_EQ(judged(20, false).verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(judged(2, true).verdict, judge::Verdict::open);
  ASSERT_FALSE(judged(2, true).shown.empty());
  EXPECT_EQ(judged(2, true).shown.back().judgement.verdict, judge::Verdict::within);
  EXPECT_EQ(judged(20, true).verdict, judge::Verdict::wrong_value);
}

TEST(Region, InTheStrictClassSubnormalsStay) {
  std::vector<float> x;
  for (int k = 0; k < 20; ++k) x.push_back(-90 - static_cast<float>(k) / 4);  // exp is subnormal
  const Values seen{{"x", floats(x)}, {"y", floats(std::vector<float>(20, 0))}};
  EXPECT_FALSE(judge::is_fail(judge_region(fused(), {0, 1, 2}, seen, {}).verdict));
  judge::JudgeOptions strict;
  strict.then_fast = false;
  EXPECT_EQ(judge_region(fused(), {0, 1, 2}, seen, strict).verdict, judge::Verdict::wrong_value);
}

TEST(Region, WrongOnValuesThatWereSeenIsWrong) {
  const Values seen{{"x", floats({0})}, {"a", floats({1})}, {"b", floats({1})}, {"y", floats({1})}};
  EXPECT_EQ(judge_region(fused(), {1}, seen, {}).verdict, judge::Verdict::wrong_value);
}

TEST(Region, WhatIsShownInsideMayBeComputedTwice) {
  const Model model = chain({node("Neg", {"x"}, "n"), node("Exp", {"n"}, "a"),
                             node("Neg", {"a"}, "b"), node("Abs", {"b"}, "y")});
  Tensor x = inputs();
  for (Index k = 0; k < x.size(); ++k) x.data<float>()[k] = -x.data<float>()[k];
  const auto verdict = [&](int ulps_of_a, int ulps_of_y) {
    const Values seen{
        {"x", x}, {"a", floats(results(ulps_of_a))}, {"y", floats(results(ulps_of_y))}};
    return judge_around(model, {"n", "b"}, seen, {}).verdict;
  };
  EXPECT_EQ(verdict(0, 2), judge::Verdict::within);
  EXPECT_EQ(verdict(0, 20), judge::Verdict::wrong_value);
  EXPECT_EQ(verdict(20, 0), judge::Verdict::wrong_value);
}

TEST(Region, AMissingValueIsSaid) {
  const RegionJudgement found = judge_region(fused(), {1, 2}, {{"y", floats({1})}}, {});
  EXPECT_EQ(found.verdict, judge::Verdict::open);
  EXPECT_THAT(found.detail, ::testing::HasSubstr("'a'")) << found.detail;
}

}  // namespace
}  // namespace touchstone::compare
