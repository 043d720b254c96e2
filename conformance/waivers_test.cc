// A waiver is complete or refused, valid through its last day, and applies to failures only.
#include "conformance/waivers.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace touchstone::conformance {
namespace {

const char* const good =
    R"({"schema": "touchstone.waivers/1", "waivers": [{"target": "mine", "suite": "onnx@1.0.0", "case": "test_a*",
        "link": "https://example.org/1", "reason": "known", "expires": "2027-02-28"}]})";

std::string with(std::string_view old, std::string_view put) {
  std::string text = good;
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), put);
}

std::string refusal(const std::string& text, std::string_view today = "2027-01-01") {
  try {
    read_waivers(text, "w.json", today);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::usage);
    return error.message;
  }
  return "";
}

TEST(Waivers, AWaiverCountsToItsLastDay) {
  EXPECT_EQ(refusal(good, "2027-02-28"), "");
  EXPECT_EQ(refusal(good, "2027-03-01"),
            "'w.json': waiver 1, of test_a* on mine, expired on 2027-02-28");
}

TEST(Waivers, WhatIsNotWholeIsRefused) {
  EXPECT_EQ(refusal(with(R"("reason": "known", )", "")), "'w.json': waiver 1 has no 'reason'");
  EXPECT_EQ(refusal(with(R"("known")", R"("")")), "'w.json': waiver 1 has no 'reason'");
  EXPECT_EQ(refusal(with("https://example.org/1", "a friend")),
            "'w.json': waiver 1: 'a friend' is no link");
  EXPECT_EQ(refusal(with("2027-02-28", "2027-02-29")),
            "'w.json': waiver 1: '2027-02-29' is no day like 2027-03-31");
  EXPECT_EQ(refusal(with("2027-02-28", "28.2.2027")),
            "'w.json': waiver 1: '28.2.2027' is no day like 2027-03-31");
  EXPECT_EQ(refusal(with(R"("case")", R"("cases")")),
            "'w.json': waiver 1 has a key 'cases' that is not known");
  EXPECT_EQ(refusal(with(R"("known")", "1")), "'w.json': waiver 1: 'reason' is no text");
  EXPECT_EQ(refusal("{"), "'w.json': no JSON object of schema touchstone.waivers/1 with waivers");
  EXPECT_EQ(refusal(with("waivers/1", "waivers/2")),
            "'w.json': no JSON object of schema touchstone.waivers/1 with waivers");
}

TEST(Waivers, FailsOfThatTargetAndSuiteAreWaivedAndNothingElse) {
  const std::vector<Waiver> waivers = read_waivers(good, "w.json", "2027-01-01");
  TargetRun run{"mine:threads=2",
                "onnx@1.0.0",
                {{"test_a", "node", "pass", "wrong-value", {}, "2 for 1"},
                 {"test_ab", "node", "error", "crash", {}, ""},
                 {"test_ac", "node", "pass", "within", {}, ""},
                 {"test_ad", "node", "error", "harness", {}, ""},
                 {"test_b", "node", "pass", "wrong-value", {}, ""}}};
  TargetRun other = run, elsewhere = run;
  EXPECT_EQ(waive(waivers, run), std::vector<Index>{2});
  EXPECT_EQ(run.cases[0].verdict, "waived");
  EXPECT_EQ(run.cases[0].detail,
            "waived until 2027-02-28: known (https://example.org/1); it was wrong-value: 2 for 1");
  EXPECT_EQ(run.cases[1].detail,
            "waived until 2027-02-28: known (https://example.org/1); it was crash");
  EXPECT_EQ(run.cases[2].verdict, "within");
  EXPECT_EQ(run.cases[3].verdict, "harness");
  EXPECT_EQ(run.cases[4].verdict, "wrong-value");
  const Summary summary = summarise(run.cases);
  EXPECT_EQ(summary.of(Standing::waived), 2);
  EXPECT_EQ(summary.of(Standing::fail), 1);
  other.target = "yours";
  elsewhere.suite = "onnx@1.1.0";
  EXPECT_EQ(waive(waivers, other), std::vector<Index>{0});
  EXPECT_EQ(waive(waivers, elsewhere), std::vector<Index>{0});
}

TEST(Waivers, ADayReadsLikeADay) {
  EXPECT_EQ(today().size(), 10u);
  EXPECT_GT(today(), "2025-12-31");
}

}  // namespace
}  // namespace touchstone::conformance
