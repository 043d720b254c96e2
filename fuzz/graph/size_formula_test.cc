// Tests the formulas of sizes.
#include "fuzz/graph/size_formula.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::fuzz {
namespace {

Index size_of(const std::string& name) { return name == "C" ? 5 : 3; }

TEST(SizeFormula, FollowsTheUsualPrecedence) {
  EXPECT_EQ(compute_size("1+2*C", size_of), 11);
  EXPECT_EQ(compute_size("(1+2)*C - 1", size_of), 14);
  EXPECT_EQ(compute_size("-C/2", size_of), -3);
  EXPECT_EQ(compute_size("C%K", size_of), 2);
  EXPECT_EQ(compute_size("min(C, 3, 7) + 2*max(1, K)", size_of), 9);
  EXPECT_EQ(compute_size("floor((C - 1)/2)", size_of), 2);
}

TEST(SizeFormula, RefusesTextThatIsNone) {
  for (const char* text : {"", "C+", "(C", "C)", "C C", "4..5"})
    EXPECT_THROW(compute_size(text, size_of), Error) << text;
  EXPECT_THROW(compute_size("9223372036854775807+C", size_of), Error);
  EXPECT_THROW(compute_size("C/0", size_of), Error);
}

}  // namespace
}  // namespace touchstone::fuzz
