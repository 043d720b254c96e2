// Runs a suite over a worker that misbehaves: every case has a result, in the order of the cases,
// however they are batched.
#include "conformance/conform.h"

#include <gtest/gtest.h>

#include <set>

namespace touchstone::conformance {
namespace {

suites::Case wanting(const std::string& how, const std::string& name) {
  suites::Case one;
  one.name = name;
  one.kind = "bad";
  one.model = how;
  one.data.push_back({});
  return one;
}

ConformOptions options(Index jobs) {
  ConformOptions made;
  made.worker = made.judge = {BAD_WORKER};
  made.jobs = jobs;
  made.timeout = std::chrono::hours(1);  // longer than any busy machine needs
  return made;
}

std::vector<suites::Case> cases() {
  std::vector<suites::Case> list;
  const std::vector<std::string> hows{"crash",   "leave",       "memory",
                                      "garbage", "unsupported", "throw"};
  for (int k = 0; k < 24; ++k) {
    list.push_back(wanting(k % 4 == 0 ? hows[static_cast<std::size_t>(k) / 4] : "unsupported",
                           "test_" + std::to_string(k)));
  }
  return list;
}

TEST(Conform, EveryFaultHasItsVerdict) {
  const std::vector<suites::Case> list = cases();
  const std::vector<CaseResult> results = conform(list, options(2), {});
  ASSERT_EQ(results.size(), list.size());
  const std::vector<std::string> verdicts{"crash", "crash",       "out-of-memory",
                                          "crash", "unsupported", "crash"};
  const std::vector<std::string> compats{"crash", "crash",       "error",
                                         "crash", "unsupported", "error"};
  for (std::size_t k = 0; k < list.size(); ++k) {
    EXPECT_EQ(results[k].name, list[k].name);
    EXPECT_EQ(results[k].verdict, k % 4 == 0 ? verdicts[k / 4] : "unsupported") << k;
    EXPECT_EQ(results[k].compat, k % 4 == 0 ? compats[k / 4] : "unsupported") << k;
  }
}

TEST(Conform, AHangIsATimeoutAndTheRunGoesOn) {
  ConformOptions short_of_time = options(1);
  short_of_time.timeout = std::chrono::milliseconds(300);
  for (const CaseResult& result : conform(
           {{wanting("hang", "test_a"), wanting("hang-loading", "test_b")}}, short_of_time, {})) {
    EXPECT_EQ(result.verdict, "timeout") << result.name;
    EXPECT_EQ(result.compat, "timeout") << result.name;
  }
}

TEST(Conform, ResultsDoNotDependOnTheNumberOfJobs) {
  const std::vector<suites::Case> list = cases();
  std::set<std::string> seen;
  const std::vector<CaseResult> one =
      conform(list, options(1), [&](const CaseResult& r) { seen.insert(r.key()); });
  const std::vector<CaseResult> four = conform(list, options(4), {});
  EXPECT_EQ(seen.size(), list.size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    EXPECT_EQ(one[k].verdict, four[k].verdict);
    EXPECT_EQ(one[k].detail, four[k].detail);
  }
}

TEST(Conform, AJudgeThatFailsIsOurFault) {
  const std::vector<suites::Case> list{wanting("fine", "test_fine")};
  const std::vector<CaseResult> results = conform(list, options(1), {});
  EXPECT_EQ(results[0].verdict, "harness");
}

TEST(Conform, ACaseWithoutDataIsOurFault) {
  std::vector<suites::Case> list{wanting("fine", "test_fine")};
  list[0].data.clear();
  EXPECT_EQ(conform(list, options(1), {})[0].verdict, "harness");
}

}  // namespace
}  // namespace touchstone::conformance
