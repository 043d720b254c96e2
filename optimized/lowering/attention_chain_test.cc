// Tests attention that a model spells out: one step must give the bits of its nodes' own kernels,
// which other tests hold to the judge.
#include <gmock/gmock.h>

#include <cstring>

#include "optimized/testing.h"

namespace touchstone::optimized::chained {
namespace {

constexpr Index positions = 301;  // scores of six heads are more than the least that is fused

Tensor reals(Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t(Type::float32, std::move(shape));
  for (Index k = 0; k < t.size(); ++k)
    t.data<float>()[k] = static_cast<float>(random() % 2000) / 1000 - 1;
  return t;
}

// A row is all minus infinity, others have some.
Tensor mask(Shape shape) {
  Tensor made = reals(std::move(shape), 9);
  const Index columns = made.shape().back();
  for (Index k = 0; k < made.size(); ++k) {
    if (k / columns == 1 || k % 7 == 0)
      made.data<float>()[k] = -std::numeric_limits<float>::infinity();
  }
  return made;
}

// Queries, keys and values of x; what stands between the products is for the test to add.
struct Spelled {
  Net net{{2, 3, positions, 6}};
  std::string q = net.node("Mul", {"x", net.held(reals({6}, 1))});
  std::string k = net.node("Mul", {"x", net.held(reals({6}, 2))});
  std::string v = net.node("Add", {"x", net.held(reals({6}, 3))});

  std::string scores() {
    return net.node("MatMul", {q, net.node("Transpose", {k}, {{"perm", {0, 1, 3, 2}}})});
  }
  void finish(const std::string& scores, Index axis = -1) {
    net.output(net.node("MatMul", {net.node("Softmax", {scores}, {}, {{"axis", axis}}), v}));
  }

  void expect(bool fused) const {
    const Model model = net.model();
    const std::map<std::string, Value> feeds{{"x", reals({2, 3, positions, 6}, 4)}};
    const auto expected =
        Session(model, {.threads = 1, .passes = {.level = transform::Level::basic}}).run(feeds);
    for (const Index threads : {1, 2}) {
      Session session(model, {.threads = threads});
      for (int again = 0; again < 2; ++again) {
        for (const auto& [name, value] : session.run(feeds)) {
          const std::span<const std::byte> made = value.tensor().bytes();
          const std::span<const std::byte> wanted = expected.at(name).tensor().bytes();
          EXPECT_EQ(std::memcmp(made.data(), wanted.data(), wanted.size()), 0) << name;
        }
      }
      std::string kernels;
      for (const Placement& row : session.placement()) kernels += row.kernel + "\n";
      EXPECT_EQ(kernels.find("attention of nodes") != std::string::npos, fused) << kernels;
    }
  }
};

TEST(AttentionChain, ScoresAsTheyAre) {
  Spelled all;
  all.finish(all.scores());
  all.expect(true);
}

TEST(AttentionChain, ScalesAndMasks) {
  for (const Shape& shape : {Shape{positions, positions}, Shape{2, 1, 1, positions},
                             Shape{1, 3, positions, 1}, Shape{1}}) {
    Spelled all;
    const std::string scaled = all.net.node("Div", {all.scores(), all.net.held(reals({1}, 5))});
    const std::string masked = all.net.node("Add", {all.net.held(mask(shape)), scaled});
    all.finish(all.net.node("Mul", {masked, all.net.held(reals({}, 6))}), 3);
    all.expect(true);
  }
}

TEST(AttentionChain, ScoresThatAConditionReplaces) {
  for (const bool keeps : {false, true}) {
    Spelled all;
    Tensor chosen(Type::boolean, {positions, positions});
    for (Index k = 0; k < chosen.size(); ++k) chosen.data<bool>()[k] = k % 5 != 0;
    const std::string condition = all.net.held(std::move(chosen));
    const std::string other = all.net.held(reals({1}, 7)), scores = all.scores();
    all.finish(keeps ? all.net.node("Where", {condition, scores, other})
                     : all.net.node("Where", {condition, other, scores}));
    all.expect(true);
  }
}

TEST(AttentionChain, HeadsThatATransposeSeparates) {
  Net net({2, positions, 3, 6});
  Spelled all;
  all.net = net;
  const auto heads = [&](const std::vector<Index>& perm, unsigned seed) {
    const std::string made = all.net.node("Mul", {"x", all.net.held(reals({6}, seed))});
    return all.net.node("Transpose", {made}, {{"perm", perm}});
  };
  const std::string q = heads({0, 2, 1, 3}, 1), k = heads({0, 2, 3, 1}, 2);
  all.v = heads({0, 2, 1, 3}, 3);
  all.finish(all.net.node("MatMul", {q, k}));
  const Model model = all.net.model();
  const std::map<std::string, Value> feeds{{"x", reals({2, positions, 3, 6}, 4)}};
  Session session(model), plain(model, {.passes = {.level = transform::Level::basic}});
  const auto made = session.run(feeds), wanted = plain.run(feeds);
  const std::span<const std::byte> bytes = made.begin()->second.tensor().bytes();
  EXPECT_EQ(std::memcmp(bytes.data(), wanted.begin()->second.tensor().bytes().data(), bytes.size()),
            0);
  std::string kernels;
  for (const Placement& row : session.placement()) kernels += row.kernel + "\n";
  EXPECT_THAT(kernels, ::testing::HasSubstr("attention of nodes"));
  EXPECT_THAT(kernels, ::testing::Not(::testing::HasSubstr("strided copy")));
}

TEST(AttentionChain, WhatIsReadElsewhereIsNotFused) {
  Spelled all;
  const std::string scores = all.scores();
  all.net.output(scores);
  all.finish(scores);
  all.expect(false);
  Spelled other;
  other.finish(other.scores(), 2);  // not along the keys
  other.expect(false);
}

}  // namespace
}  // namespace touchstone::optimized::chained
