// Size expressions fitted to examples: found ones, undetermined ones, and their text.
#include "reference/shapes/size_expression.h"

#include <gtest/gtest.h>

#include <functional>

namespace touchstone {
namespace {

using Size = std::function<Index(const std::vector<Index>&)>;

// Sizes of `count` symbols: a base, each changed alone, twelve at random.
Examples examples_of(std::size_t count, Index step = 1) {
  std::uint64_t state = 7;
  const auto draw = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return step * (50 + static_cast<Index>(state >> 33) % 450);
  };
  const auto draws = [&] {
    std::vector<Index> all(count);
    for (Index& size : all) size = draw();
    return all;
  };
  Examples examples;
  examples.step = step;
  examples.sizes.push_back(draws());
  for (std::size_t s = 0; s < count; ++s) {
    examples.sizes.push_back(examples.sizes[0]);
    examples.sizes.back()[s] += 17 * step;
    examples.changes.push_back({s});
  }
  for (int k = 0; k < 12; ++k) examples.sizes.push_back(draws());
  return examples;
}

std::vector<Index> sizes(const Examples& examples, const Size& size) {
  std::vector<Index> all;
  for (const std::vector<Index>& symbols : examples.sizes) all.push_back(size(symbols));
  return all;
}

std::string fitted(std::size_t count, const Size& size, Index step = 1) {
  const Examples examples = examples_of(count, step);
  return fit(examples, sizes(examples, size)).form.text({"N", "M", "past + 1", "?1", "a", "b"});
}

std::string stepped(const std::function<Index(Index)>& size) {
  const Examples examples = examples_of(2);
  Staircase stairs{0, examples.sizes[0][0], {}};
  for (Index k = 0; k < 64; ++k) stairs.values.push_back(size(stairs.first + k));
  return fit_floor(examples, sizes(examples, [&](const auto& s) { return size(s[0]); }), stairs)
      .text({"N", "M"});
}

Index floor_of(Index a, Index b) { return a / b - (a % b < 0); }

TEST(SizeExpression, NumbersAndSymbols) {
  EXPECT_EQ(fitted(0, [](const auto&) { return 7; }), "7");
  EXPECT_EQ(fitted(2, [](const auto&) { return 7; }), "7");
  EXPECT_EQ(fitted(2, [](const auto& s) { return s[1]; }), "M");
  EXPECT_EQ(fitted(3, [](const auto& s) { return s[2]; }), "past + 1");
}

TEST(SizeExpression, LinearOnes) {
  EXPECT_EQ(fitted(2, [](const auto& s) { return 2 * s[0] + 1; }), "2*N + 1");
  EXPECT_EQ(fitted(3, [](const auto& s) { return s[0] - s[1] + 3 * s[2]; }),
            "N - M + 3*(past + 1)");
  EXPECT_EQ(fitted(6, [](const auto& s) { return s[0] + s[1] + s[2] + s[3] + s[4] - 9; }),
            "N + M + (past + 1) + ?1 + a - 9");
  EXPECT_EQ(fitted(1, [](const auto& s) { return 1000 - s[0]; }), "-N + 1000");
}

TEST(SizeExpression, Products) {
  EXPECT_EQ(fitted(2, [](const auto& s) { return 12 * s[0] * s[1]; }), "12*N*M");
  EXPECT_EQ(fitted(1, [](const auto& s) { return s[0] * s[0] + s[0]; }), "N*N + N");
  EXPECT_EQ(fitted(4, [](const auto& s) { return s[0] * s[1] * s[3] - 1; }), "N*M*?1 - 1");
}

TEST(SizeExpression, DivisionsAreExactWhereSizesAreMultiples) {
  EXPECT_EQ(fitted(
                1, [](const auto& s) { return s[0] / 32; }, 64),
            "floor(N/32)");
  EXPECT_EQ(fitted(
                2, [](const auto& s) { return s[0] / 8 * (s[1] / 8); }, 64),
            "floor(N*M/64)");
}

TEST(SizeExpression, Steps) {
  EXPECT_EQ(stepped([](Index n) { return (n - 1) / 2 + 1; }), "floor((N + 1)/2)");
  EXPECT_EQ(stepped([](Index n) { return 3 * ((n + 31) / 32); }), "3*floor((N + 31)/32)");
  EXPECT_EQ(stepped([](Index n) { return 5 * (n / 2) + 7; }), "5*floor((N + 2)/2) + 2");
  EXPECT_EQ(stepped([](Index n) { return (n + 31) / 32 - 2; }), "floor((N - 33)/32)");
  EXPECT_EQ(stepped([](Index n) { return floor_of(3 * n - 1, 4); }), "floor((3*N - 1)/4)");
}

TEST(SizeExpression, WhatFitsNothingIsUnknown) {
  EXPECT_EQ(fitted(1, [](const auto& s) { return s[0] / 2; }), "?");
  EXPECT_EQ(fitted(2, [](const auto& s) { return std::max(s[0], s[1]); }), "?");
  EXPECT_EQ(fitted(1, [](const auto& s) { return std::min<Index>(s[0], 200); }), "?");
  EXPECT_EQ(stepped([](Index n) { return n < 300 ? n / 2 : n; }), "?");
  EXPECT_EQ(stepped([](Index n) { return n / 50; }), "?");
}

TEST(SizeExpression, Differences) {
  SizeExpression n = symbol_expression(0), n1 = symbol_expression(0);
  n1.constant = 1;
  EXPECT_EQ(constant_difference(n1, n), 1);
  EXPECT_EQ(constant_difference(number_expression(4), number_expression(3)), 1);
  EXPECT_EQ(constant_difference(n, symbol_expression(1)), std::nullopt);
  EXPECT_EQ(constant_difference(n, SizeExpression{}), std::nullopt);
}

}  // namespace
}  // namespace touchstone
