// Misspellings of known words, and words too far from any.
#include "core/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace touchstone {
namespace {

constexpr std::array<std::string_view, 5> known{"Softmax", "Softplus", "LogSoftmax", "Add", "And"};

TEST(Nearest, ALetterMoreLessAnotherOrSwapped) {
  for (const char* word : {"Sofftmax", "Sofmax", "Softmox", "Sotfmax", "softMAX"})
    EXPECT_EQ(nearest(word, known), "Softmax") << word;
}

TEST(Nearest, TheNearestOfSeveralAndTheFirstOfEquals) {
  EXPECT_EQ(nearest("LogSoftmx", known), "LogSoftmax");
  EXPECT_EQ(nearest("Softplux", known), "Softplus");
  EXPECT_EQ(nearest("Axd", known), "Add");
}

TEST(Nearest, MoreThanAThirdOfTheLettersIsAnotherWord) {
  EXPECT_EQ(nearest("Frobnicate", known), "");
  EXPECT_EQ(nearest("Abs", known), "");  // two of three letters
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'S'), known), "");
}

TEST(Nearest, SaysItInAHelpText) {
  EXPECT_EQ(did_you_mean("Sofmax", known), "did you mean 'Softmax'? ");
  EXPECT_EQ(did_you_mean("Frobnicate", known), "");
}

}  // namespace
}  // namespace touchstone
