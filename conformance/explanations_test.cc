// The table that codegen wrote is the one that is looked into, and what counts as explained.
#include "conformance/explanations.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace touchstone {
namespace {

// A real row: these tests must not name a file of spec/ that may change.
const Explanation& some_row() { return explanations().front(); }

TEST(Explanations, ACaseIsFoundInItsOwnSuiteOnly) {
  const std::string name(some_row().pattern);
  const CaseResult known{name, "node", "pass", "wrong-value", {}, ""},
      nobody{"test_of_nobody", "node", "pass", "wrong-value", {}, ""};
  EXPECT_EQ(explained_by(some_row().target, some_row().suite, known).front(), some_row().id);
  EXPECT_TRUE(explained_by("mine", "onnx@0.0.0", known).empty());
  EXPECT_TRUE(explained_by(some_row().target, some_row().suite, nobody).empty());
}

TEST(Explanations, ACaseOfSeveralReleasesIsExplainedByAny) {
  CaseResult moved{"test_of_nobody", "1.2.1/node", "pass", "wrong-value", {}, ""};
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
  EXPECT_TRUE(std::ranges::none_of(explanations(),
                                   [](const Explanation& one) { return one.title.empty(); }));
}

TEST(Explanations, PatternsSpeakOfManyAndEachNoteOnce) {
  const Explanation table[] = {{"E001", "One", "", "onnx@1.0.0", "test_a*", false},
                               {"E001", "One", "", "onnx@1.0.0", "test_ab", false},
                               {"Q002", "Two", "", "onnx@1.0.0", "test_?b", false}};
  const Place ab{"onnx@1.0.0", "test_ab"}, bb{"onnx@1.0.0", "test_bb"};
  EXPECT_EQ(explained_by("mine", std::span(&ab, 1), table), (std::vector<std::string>{"E001", "Q002"}));
  EXPECT_EQ(explained_by("mine", std::span(&bb, 1), table), (std::vector<std::string>{"Q002"}));
}

TEST(Explanations, AFindingSpeaksOfItsOwnRuntime) {
  const Explanation table[] = {{"F001", "One", "mine", "onnx@1.0.0", "test_a", false}};
  const Place a{"onnx@1.0.0", "test_a"};
  EXPECT_EQ(explained_by("mine:threads=2", std::span(&a, 1), table), (std::vector<std::string>{"F001"}));
  EXPECT_TRUE(explained_by("yours", std::span(&a, 1), table).empty());
}

TEST(Explanations, OnlyWhatIsNoPlainPassAsksForOne) {
  const std::string suite(some_row().suite), known(some_row().pattern);
  const TargetRun run{"mine",
                      suite,
                      {{"a", "node", "pass", "within", {}, ""},
                       {"b", "node", "pass", "open", {}, ""},
                       {"c", "node", "unsupported", "unsupported", {}, ""},
                       {"d", "node", "error", "harness", {}, ""},
                       {"e", "node", "wrong-value", "exact", {}, ""},
                       {"f", "node", "pass", "mistrusted", {}, ""},
                       {"g", "node", "crash", "crash", {}, ""},
                       {known, "node", "wrong-value", "wrong-value", {}, ""}}};
  const ToExplain counts = to_explain(run);
  EXPECT_EQ(counts.cases, 5);
  EXPECT_EQ(counts.unexplained, 4);
}

TEST(Explanations, AFailIsTheTargetsFaultUnlessAnErratumSpeaksOfIt) {
  const auto first_of = [](char kind, bool excuses) {
    return *std::ranges::find_if(explanations(), [&](const Explanation& one) {
      return one.id.front() == kind && one.excuses == excuses;
    });
  };
  const Explanation erratum = first_of('E', true), question = first_of('Q', false),
                    right = first_of('E', false);  // its expectations prove little, and are right
  const auto at_fault = [](const Explanation& one, const std::string& name) {
    return to_explain({"mine", std::string(one.suite), {{name, "node", "wrong-value", "wrong-value", {}, ""}}})
        .target_fault;
  };
  EXPECT_EQ(at_fault(erratum, std::string(erratum.pattern)), 0);
  EXPECT_EQ(at_fault(question, std::string(question.pattern)), 1);
  EXPECT_EQ(at_fault(right, std::string(right.pattern)), 1);
  EXPECT_EQ(at_fault(erratum, "test_of_nobody"), 1);
}

}  // namespace
}  // namespace touchstone
