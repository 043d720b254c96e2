// Arithmetic of indices and lists, exact or refused; axes that insert and drop dimensions; and
// einsum equations.
#include "reference/lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace touchstone {
namespace {

// Labels of the inputs and of the result, in the order of subscripts().
std::string labels(std::string_view equation, const IndexVector& ranks) {
  return text(subscripts(equation, ranks));
}

std::string fault(std::string_view equation, const IndexVector& ranks) {
  try {
    subscripts(equation, ranks);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::invalid_model);
    return error.message;
  }
  return "none";
}

constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();

template <class F>
std::optional<Index> fitting(F compute) {
  try {
    return compute();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::limit);
    return std::nullopt;
  }
}
// `exact`, if it fits an Index.
std::optional<Index> held(__int128 exact) {
  return exact < least || exact > most ? std::nullopt : std::optional(static_cast<Index>(exact));
}

RC_GTEST_PROP(Division, IsExactOrRefused, (Index a, Index b)) {
  for (const Index x : {a, least, most}) {
    for (const Index y : {b, b % 16, Index{-1}, Index{3}, least, most}) {
      if (y == 0) continue;
      const __int128 wide = x, q = wide / y, rest = wide % y,
                     other = rest != 0 && (rest < 0) != (y < 0) ? 1 : 0;
      RC_ASSERT(fitting([&] { return quotient(x, y); }) == held(q));
      RC_ASSERT(fitting([&] { return floor_div(x, y); }) == held(q - other));
      RC_ASSERT(fitting([&] { return ceil_div(x, y); }) == held(q - other + (rest != 0 ? 1 : 0)));
      RC_ASSERT(remainder(x, y) == rest);
      RC_ASSERT(mod(x, y) == rest + other * y);
    }
  }
}

TEST(Division, ByZeroIsRefused) {
  EXPECT_THROW(quotient(1, 0), Error);
  EXPECT_THROW(remainder(1, 0), Error);
  EXPECT_THROW(mod(1, 0), Error);
}

TEST(Lists, ArithmeticThatDoesNotFitIsRefused) {
  const IndexVector far{1, Index{1} << 61};
  for (const auto& compute : std::vector<std::function<void()>>{
           [&] { far* Index{8}; },
           [&] {
             IndexVector{8, 8} * far;
           },
           [&] { far + most; }, [&] { most + far; }, [&] { negative(far) - most; },
           [&] { negative(IndexVector{least}); },
           [&] {
             total(IndexVector{most, most, 6});
           },
           [&] { reflect(5, (Index{1} << 62) + 2); }, [&] { wrap(least, -1); },
           [&] {
             ravel(IndexVector{1, 1}, Shape{2, most});
           }}) {
    try {
      compute();
      ADD_FAILURE() << "it is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::limit) << error.message;
    }
  }
  EXPECT_EQ(far * Index{2}, (IndexVector{2, Index{1} << 62}));
  EXPECT_EQ(total(IndexVector{most, -1, 1}), most);
}

TEST(Lists, APartPastTheEndIsRefused) {
  const IndexVector list{1, 2, 3};
  EXPECT_EQ(part(list, 1, 2), (IndexVector{2, 3}));
  for (const auto& [from, n] : std::vector<std::pair<Index, Index>>{
           {most, 1}, {1, most}, {most, most}, {4, 0}, {-1, 1}, {0, 4}}) {
    EXPECT_THROW(part(list, from, n), Error);
    EXPECT_THROW(part(std::vector<float>(3), from, n), Error);
  }
  EXPECT_THROW(tail(list, least), Error);
}

TEST(Lists, AxesArePutInAndLeftOut) {
  EXPECT_EQ(unsqueezed({7, 8}, {3, 0}), (IndexVector{1, 7, 8, 1}));
  EXPECT_EQ(unsqueezed({}, {0}), IndexVector{1});
  EXPECT_THROW(unsqueezed({7}, {0, 0}), Error);  // no size is left for the third
  EXPECT_EQ(without({7, 8, 9}, {2, 0, 2, 5, -1}), IndexVector{8});
}

// Axes are marked by index: a linear search per axis would be quadratic here.
TEST(Lists, ManyAxes) {
  constexpr Index many = 300'000;
  IndexVector axes;
  for (Index k = 0; k < many; ++k) axes.push_back(many - k);
  const IndexVector shape = unsqueezed({5}, axes);
  EXPECT_EQ(shape.size(), many + 1);
  EXPECT_EQ(shape[0], 5);
  EXPECT_EQ(without(shape, axes), IndexVector{5});
}

TEST(Subscripts, LabelsOfTheResultComeFirst) {
  EXPECT_EQ(subscripts("ij,jk->ik", {2, 2}), (IndexVector{0, 2, 2, 1, 0, 1}));
  EXPECT_EQ(subscripts("ij->ji", {2}), (IndexVector{1, 0, 0, 1}));
}

TEST(Subscripts, SpacesSayNothing) {
  EXPECT_EQ(labels(" i j , j k -> i k ", {2, 2}), labels("ij,jk->ik", {2, 2}));
}

TEST(Subscripts, WithoutArrowLettersThatStandOnceAreKeptCapitalsFirst) {
  EXPECT_EQ(labels("ij,jk", {2, 2}), labels("ij,jk->ik", {2, 2}));
  EXPECT_EQ(labels("ba", {2}), labels("ba->ab", {2}));
  EXPECT_EQ(labels("aB", {2}), labels("aB->Ba", {2}));
  EXPECT_EQ(labels("ii", {2}), labels("ii->", {2}));
}

TEST(Subscripts, AnEllipsisStandsForTheOtherDimensions) {
  EXPECT_EQ(subscripts("...i->...", {3}), (IndexVector{0, 1, 2, 0, 1}));
  EXPECT_EQ(labels("a...", {3}), labels("a...->...a", {3}));
  EXPECT_EQ(subscripts("...->...", {0}), IndexVector{});
}

TEST(Subscripts, AScalarHasAnEmptyTerm) {
  EXPECT_EQ(subscripts(",i->i", {0, 1}), (IndexVector{0, 0}));
}

TEST(Subscripts, WhatIsMalformedSaysWhy) {
  EXPECT_THAT(fault("", {0}), ::testing::HasSubstr("it is empty"));
  EXPECT_THAT(fault("i,j->ij", {1}), ::testing::HasSubstr("2 terms for 1 inputs"));
  EXPECT_THAT(fault("ij->ij", {3}),
              ::testing::HasSubstr("names 2 dimensions of an input of rank 3"));
  EXPECT_THAT(fault("ij...->...", {1}),
              ::testing::HasSubstr("names 2 dimensions of an input of rank 1"));
  EXPECT_THAT(fault("i1->i", {2}), ::testing::HasSubstr("'1' is neither a letter"));
  EXPECT_THAT(fault("i->i->i", {1}), ::testing::HasSubstr("'-' is neither a letter"));
  EXPECT_THAT(fault("i..->i", {2}), ::testing::HasSubstr("'.' is neither a letter"));
  EXPECT_THAT(fault("...i...->i", {2}), ::testing::HasSubstr("two ellipses"));
  EXPECT_THAT(fault("...i,...i->...", {2, 3}),
              ::testing::HasSubstr("different numbers of dimensions"));
  EXPECT_THAT(fault("...i->i", {2}), ::testing::HasSubstr("leaves out the ellipsis"));
  EXPECT_THAT(fault("i->j", {1}), ::testing::HasSubstr("no input has the letter j"));
  EXPECT_THAT(fault("ij->ii", {2}), ::testing::HasSubstr("names the letter i twice"));
}

}  // namespace
}  // namespace touchstone
