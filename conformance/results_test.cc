// Tests the counts of verdicts.
#include "conformance/results.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::conformance {
namespace {

CaseResult with(const std::string& verdict) { return {"case", "node", "pass", verdict, {}, ""}; }

TEST(Results, OnlyFourVerdictsPass) {
  for (const char* verdict : {"exact", "within(0.5)", "in-set", "profile(Q3)"}) {
    EXPECT_EQ(standing(verdict), Standing::pass) << verdict;
  }
  for (const char* verdict : {"wrong-value", "wrong-shape", "wrong-type", "rejected-valid",
                              "accepted-invalid", "nondeterministic", "wrote-input", "overrun",
                              "unwritten", "crash", "timeout", "out-of-memory"}) {
    EXPECT_EQ(standing(verdict), Standing::fail) << verdict;
  }
  EXPECT_THROW(standing("fine"), Error);
}

TEST(Results, TheRateLeavesOutWhatWasNotJudged) {
  const Summary summary =
      summarise({with("exact"), with("within"), with("wrong-value"), with("mistrusted"),
                 with("open"), with("unsupported"), with("harness")});
  EXPECT_EQ(summary.cases, 7);
  EXPECT_EQ(summary.of(Standing::pass), 2);
  EXPECT_EQ(summary.of(Standing::unsupported), 1);
  ASSERT_TRUE(summary.rate());
  EXPECT_EQ(*summary.rate(), 0.5);
  EXPECT_FALSE(summarise({with("open"), with("unsupported")}).rate());
}

}  // namespace
}  // namespace touchstone::conformance
