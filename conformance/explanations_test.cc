// The table that codegen wrote is the one that is looked into, and what counts as explained.
#include "conformance/explanations.h"

#include <gtest/gtest.h>

namespace touchstone {
namespace {

// A real row: these tests must not name a file of spec/ that may change.
const Explanation& some_row() { return explanations().front(); }

TEST(Explanations, ACaseIsFoundInItsOwnSuiteOnly) {
  const std::string name(some_row().pattern);
  EXPECT_EQ(explained_by(some_row().suite, name).front(), some_row().id);
  EXPECT_TRUE(explained_by("onnx@0.0.0", name).empty());
  EXPECT_TRUE(explained_by(some_row().suite, "test_of_nobody").empty());
}

TEST(Explanations, ErrataStandFirstAndEachOnce) {
  std::string before;
  for (const Explanation& one : explanations()) {
    EXPECT_LE(before, one.id);
    before = one.id;
    EXPECT_FALSE(one.title.empty());
    const std::vector<std::string> ids = explained_by(one.suite, std::string(one.pattern));
    EXPECT_EQ(std::ranges::count(ids, one.id), 1) << one.pattern;
  }
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
  EXPECT_EQ(counts.cases, 4);
  EXPECT_EQ(counts.unexplained, 3);
}

}  // namespace
}  // namespace touchstone
