// Tests that faithful draws pass and that draws of another distribution do not.
#include "reference/semantics/chance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace touchstone::extended {
namespace {

constexpr Index enough = 57;

double uniform_share(double x) { return std::clamp(x, 0.0, 1.0); }

std::vector<double> uniform(Index n, std::uint64_t seed, double low = 0, double high = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> out;
  for (Index k = 0; k < n; ++k)
    out.push_back(static_cast<double>(static_cast<float>(draw(random))));
  return out;
}

Frequencies numbers(std::vector<double> draws, Type type = Type::float32) {
  return compare_numbers(std::move(draws), uniform_share, format_of(type));
}

TEST(Chance, FewDrawsTellNothing) {
  EXPECT_GE(farthest_by_chance(enough - 1), 0.5);
  EXPECT_LT(farthest_by_chance(enough), 0.5);
  EXPECT_EQ(numbers(std::vector<double>(enough - 1, 0.5)).compared, 0);
  EXPECT_EQ(numbers(std::vector<double>(enough, 0.5)).compared, enough);
}

TEST(Chance, FaithfulNumbersPass) {
  for (const Index n : {enough, Index{1000}, Index{100000}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(numbers(uniform(n, seed)).improbable, "");
  }
}

TEST(Chance, NumbersOfAnotherRangeDoNot) {
  EXPECT_NE(numbers(std::vector<double>(enough + 1, 0.0)).improbable, "");
  EXPECT_NE(numbers(std::vector<double>(enough + 1, 1.0)).improbable, "");
  EXPECT_NE(numbers(uniform(1000, 1, 0, 0.8)).improbable, "");
  EXPECT_NE(numbers(uniform(1000, 1, 0.2, 1)).improbable, "");
}

// 8-bit floats hold few numbers of the range, and either neighbour may be drawn.
TEST(Chance, NumbersMayBeRoundedToEitherNeighbour) {
  for (const double direction : {0.0, 1.0}) {
    std::vector<double> coarse;
    for (const double x : uniform(10000, 5)) {
      const double step = std::ldexp(1.0, std::ilogb(x) - 3);
      coarse.push_back((std::floor(x / step) + direction) * step);
    }
    EXPECT_EQ(numbers(coarse, Type::float8e4m3fn).improbable, "") << direction;
    EXPECT_NE(numbers(coarse, Type::float32).improbable, "") << direction;
  }
}

std::vector<Trial> trials(Index n, std::uint64_t seed,
                          const std::function<bool(double, double)>& came) {
  std::vector<Trial> out;
  const std::vector<double> chances = uniform(n, seed), draws = uniform(n, seed + 1);
  for (std::size_t k = 0; k < chances.size(); ++k)
    out.push_back({chances[k], came(chances[k], draws[k])});
  return out;
}

TEST(Chance, TrialsComeAsOftenAsTheyShouldAndWhere) {
  const auto said = [](Index n, const std::function<bool(double, double)>& came) {
    return compare_trials(trials(n, 7, came)).improbable;
  };
  EXPECT_EQ(said(1000, [](double chance, double draw) { return draw < chance; }), "");
  EXPECT_EQ(said(100000, [](double chance, double draw) { return draw < chance; }), "");
  EXPECT_NE(said(1000, [](double, double) { return false; }), "");
  EXPECT_NE(said(1000, [](double, double) { return true; }), "");
  EXPECT_NE(said(1000, [](double chance, double draw) { return draw > chance; }), "");
  EXPECT_NE(said(1000, [](double chance, double) { return chance > 0.5; }), "");
  EXPECT_EQ(compare_trials(trials(50, 7, [](double, double) { return false; })).compared, 0);
}

TEST(Chance, ClassesOfEachRowAndOfAll) {
  const std::vector<double> even(4, 0.25), odd{0.5, 0.25, 0.125, 0.125};
  EXPECT_EQ(compare_classes({{even, {250, 240, 260, 250}}}).improbable, "");
  EXPECT_EQ(compare_classes({{odd, {480, 260, 130, 130}}}).improbable, "");
  EXPECT_NE(compare_classes({{even, {480, 260, 130, 130}}}).improbable, "");
  EXPECT_NE(compare_classes({{odd, {250, 240, 260, 250}}}).improbable, "");
  EXPECT_EQ(compare_classes({{even, {10, 0, 0, 0}}}).compared, 0);
  // The rows' classes exchanged: their sum is as expected.
  EXPECT_NE(compare_classes(
                {{odd, {125, 125, 250, 500}}, {{0.125, 0.125, 0.25, 0.5}, {500, 250, 125, 125}}})
                .improbable,
            "");
  // One draw in each of 200 rows.
  EXPECT_EQ(compare_classes(std::vector<ClassRow>(200, {{0.5, 0.5}, {1, 0}})).improbable.empty(),
            false);
}

}  // namespace
}  // namespace touchstone::extended
