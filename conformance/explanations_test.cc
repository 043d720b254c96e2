// Tests the generated table of explanations, and which results count as explained.
#include "conformance/explanations.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace touchstone::conformance {
namespace {

// A real row: these tests must not name a file of spec/ that may change.
const Explanation& some_row() { return explanations().front(); }

// A result with the first outcome that the row explains.
CaseResult of_row(const Explanation& row) {
  const std::string_view first = row.outcomes.substr(0, row.outcomes.find(' '));
  const std::size_t bar = first.find('/');
  std::string verdict(first.substr(bar + 1));
  if (verdict == "pass") verdict = "within(0.5)";
  return {std::string(row.pattern), "node", std::string(first.substr(0, bar)), verdict, {}, ""};
}

TEST(Explanations, ACaseIsFoundInItsOwnSuiteOnly) {
  const CaseResult known = of_row(some_row());
  CaseResult stranger = known;
  stranger.name = "test_of_nobody";
  EXPECT_EQ(explained_by(some_row().target, some_row().suite, known).front(), some_row().id);
  EXPECT_TRUE(explained_by("mine", "onnx@0.0.0", known).empty());
  EXPECT_TRUE(explained_by(some_row().target, some_row().suite, stranger).empty());
}

TEST(Explanations, ACaseOfSeveralReleasesIsExplainedByAny) {
  CaseResult moved = of_row(some_row());
  moved.name = "test_of_nobody";
  moved.kind = "1.2.1/node";
  moved.places = {{"onnx@0.0.0", "test_of_nobody"},
                  {std::string(some_row().suite), std::string(some_row().pattern)}};
  EXPECT_EQ(explained_by(some_row().target, "onnx@all", moved).front(), some_row().id);
  moved.places.pop_back();
  EXPECT_TRUE(explained_by(some_row().target, "onnx@all", moved).empty());
}

std::pair<std::size_t, std::string_view> place(const Explanation& one) {
  return {std::string_view("EQF").find(one.id[0]), one.id};
}

TEST(Explanations, ErrataStandFirstAndFindingsLast) {
  EXPECT_TRUE(std::ranges::is_sorted(explanations(), {}, place));
  EXPECT_TRUE(std::ranges::none_of(explanations(), [](const Explanation& one) {
    return one.title.empty() || one.outcomes.empty();
  }));
}

TEST(Explanations, AnOutcomeIsTheSuitesWordAndTheJudges) {
  const auto of = [](const char* compat, const char* verdict) {
    return outcome({"a", "node", compat, verdict, {}, ""});
  };
  EXPECT_EQ(of("pass", "exact"), "pass/pass");
  EXPECT_EQ(of("wrong-value", "within(0.5)"), "wrong-value/pass");
  EXPECT_EQ(of("wrong-value", "profile"), "wrong-value/pass");
  EXPECT_EQ(of("pass", "open"), "pass/open");
  EXPECT_EQ(of("timeout", "timeout"), "timeout/timeout");
}

constexpr const char* off = "wrong-value/pass";

TEST(Explanations, PatternsSpeakOfManyAndEachNoteOnce) {
  const Explanation table[] = {{"E001", "One", "", off, "onnx@1.0.0", "test_a*"},
                               {"E001", "One", "", off, "onnx@1.0.0", "test_ab"},
                               {"Q002", "Two", "", off, "onnx@1.0.0", "test_?b"}};
  const suites::Place ab{"onnx@1.0.0", "test_ab"}, bb{"onnx@1.0.0", "test_bb"};
  EXPECT_EQ(explained_by("mine", std::span(&ab, 1), off, table),
            (std::vector<std::string>{"E001", "Q002"}));
  EXPECT_EQ(explained_by("mine", std::span(&bb, 1), off, table),
            (std::vector<std::string>{"Q002"}));
}

TEST(Explanations, ARowSpeaksOfItsOwnRuntime) {
  const Explanation table[] = {{"F001", "One", "mine", off, "onnx@1.0.0", "test_a"}};
  const suites::Place a{"onnx@1.0.0", "test_a"};
  EXPECT_EQ(explained_by("mine:threads=2", std::span(&a, 1), off, table),
            (std::vector<std::string>{"F001"}));
  EXPECT_TRUE(explained_by("yours", std::span(&a, 1), off, table).empty());
}

TEST(Explanations, OneOutcomeExcusesNoOther) {
  const Explanation table[] = {
      {"E001", "One", "", "wrong-value/pass pass/mistrusted", "onnx@1.0.0", "test_a"}};
  const suites::Place a{"onnx@1.0.0", "test_a"};
  for (const char* explained : {"wrong-value/pass", "pass/mistrusted"})
    EXPECT_EQ(explained_by("mine", std::span(&a, 1), explained, table).size(), 1u) << explained;
  for (const char* other :
       {"pass/pass", "wrong-value/wrong-value", "wrong-value/mistrusted", "crash/crash",
        "timeout/timeout", "wrong-shape/pass", "pass/wrong-value", "wrong-value", "pass", ""})
    EXPECT_TRUE(explained_by("mine", std::span(&a, 1), other, table).empty()) << other;
}

TEST(Explanations, OnlyWhatIsNoPlainPassAsksForOne) {
  const std::string suite(some_row().suite);
  const TargetRun run{std::string(some_row().target),
                      suite,
                      {{"a", "node", "pass", "within", {}, ""},
                       {"b", "node", "pass", "open", {}, ""},
                       {"c", "node", "unsupported", "unsupported", {}, ""},
                       {"d", "node", "error", "harness", {}, ""},
                       {"e", "node", "wrong-value", "exact", {}, ""},
                       {"f", "node", "pass", "mistrusted", {}, ""},
                       {"g", "node", "crash", "crash", {}, ""},
                       of_row(some_row()),
                       {std::string(some_row().pattern), "node", "crash", "crash", {}, ""}}};
  const ToExplain counts = to_explain(run);
  EXPECT_EQ(counts.cases, 6);
  EXPECT_EQ(counts.unexplained, 5);
  EXPECT_EQ(counts.target_fault, 2);
}

// A crash, a time-out or a wrong answer of our own targets is never explained away.
TEST(Explanations, NoRowExcusesAFailOfOurs) {
  for (const Explanation& one : explanations()) {
    if (!one.target.empty() && one.target != "reference" && one.target != "fast") continue;
    const suites::Place here{std::string(one.suite), std::string(one.pattern)};
    const std::string_view target = one.target.empty() ? "reference" : one.target;
    for (const char* fatal :
         {"crash/crash", "error/crash", "timeout/timeout", "error/out-of-memory",
          "wrong-value/wrong-value", "pass/wrong-value", "wrong-shape/wrong-shape",
          "wrong-type/wrong-type", "error/unwritten"}) {
      EXPECT_TRUE(explained_by(target, std::span(&here, 1), fatal, std::span(&one, 1)).empty())
          << one.id;
    }
  }
}

}  // namespace
}  // namespace touchstone::conformance
