// The table of rules, its documentation page, and the text of format errors.
#include "model/rules.h"

#include <gmock/gmock.h>
#include <set>

#include "core/files.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

[[maybe_unused]] const auto* const every_rule =
    ::testing::AddGlobalTestEnvironment(new EveryRuleIsBroken("model/"));

TEST(Rules, ThePageShowsTheTable) {
  const std::string page =
      open_trusted(std::filesystem::path(TOUCHSTONE_SOURCE) / "docs/model-rules.md")
          .read_all(Limits());
  std::string rows;
  for (const FormatRule& rule : format_rules()) {
    rows += "| `" + std::string(rule.id) + "` | " + std::string(rule.text) + " | " +
            std::string(rule.help) + " |\n";
  }
  EXPECT_THAT(page, ::testing::HasSubstr(rows)) << "docs/model-rules.md should hold these rows:\n"
                                                << rows;
}

TEST(Rules, IdsAreUnique) {
  std::set<std::string_view> ids;
  for (const FormatRule& rule : format_rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
}

TEST(Rules, AnErrorCitesItsRule) {
  const Error error = breach("model/cycle", "a needs b");
  EXPECT_EQ(error.kind, ErrorKind::invalid_model);
  EXPECT_EQ(error.rule_text, "no node depends on its own outputs");
  EXPECT_EQ(error.spec_line, "docs/model-rules.md");
  EXPECT_STREQ(over_limit("nodes", 7, 6).what(), "7 passes the limit 'nodes' of 6");
  EXPECT_THROW(breach("model/never-heard-of", ""), Error);
}

TEST(Rules, TheFirstPlaceStays) {
  try {
    placed([] { return "outside"; },
           [] { placed([] { return "inside"; }, [] { throw Error(ErrorKind::internal, "x"); }); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place, "inside");
  }
}

TEST(Rules, APlaceNamesNodeOutputAndGraph) {
  Node named = node("Relu", {"X"}, {"", "y"});
  named.name = "act3";
  named.domain = "com.example";
  EXPECT_EQ(place_of(named, ""), "node 'act3' (com.example.Relu), output 'y', main graph");
  named.name.clear();
  named.index = 4;
  EXPECT_EQ(place_of(named, "If_0/then_branch"),
            "node #4 (com.example.Relu), output 'y', graph If_0/then_branch");
}

}  // namespace
}  // namespace touchstone::testing
