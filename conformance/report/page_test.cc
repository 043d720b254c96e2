// The page is one file, and no result can inject markup.
#include "conformance/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/explanations.h"
#include "conformance/report/json.h"

namespace touchstone::report {
namespace {

TEST(Page, StandsAlone) {
  const std::string page = html_page(conform_object({}));
  for (const char* outside :
       {"http://", "https://", "src=", "href=", "@import", "@STYLE@", "@SCRIPT@", "@RESULTS@"}) {
    EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr(outside))) << outside;
  }
  EXPECT_THAT(page, ::testing::HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, ::testing::HasSubstr("\"use strict\""));
}

TEST(Page, KnowsHowEachVerdictCounts) {
  const std::string page = html_page(conform_object({}));
  EXPECT_THAT(page, ::testing::HasSubstr(R"("in-set":"pass")"));
  EXPECT_THAT(page, ::testing::HasSubstr(R"("out-of-memory":"fail")"));
  EXPECT_THAT(page, ::testing::HasSubstr(R"("harness":"harness")"));
}

TEST(Page, KnowsTheTitleOfWhatExplainsACase) {
  const std::string page = html_page(conform_object({}));
  const conformance::Explanation& known = conformance::explanations().front();
  EXPECT_THAT(page, ::testing::HasSubstr("\"" + std::string(known.id) + "\":\""));
  EXPECT_THAT(page, ::testing::HasSubstr("explanations[id]"));
}

TEST(Page, AHostileDetailStaysData) {
  const conformance::TargetRun run{
      "reference",
      "onnx",
      {{"a", "node", "crash", "crash", {}, "</script><script>alert(1)</script>"}}};
  const std::string page = html_page(conform_object(std::span(&run, 1)));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("</script><script>alert")));
  EXPECT_THAT(page, ::testing::HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
}

}  // namespace
}  // namespace touchstone::report
