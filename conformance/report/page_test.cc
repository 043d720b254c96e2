// The page is one file, and no result can inject markup.
#include "conformance/report/page.h"

#include <gtest/gtest.h>

#include "conformance/explanations.h"
#include "conformance/report/json.h"

namespace touchstone {
namespace {

TEST(Page, StandsAlone) {
  const std::string page = html_page(conform_object({}));
  for (const char* outside :
       {"http://", "https://", "src=", "href=", "@import", "@STYLE@", "@SCRIPT@", "@RESULTS@"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(page.find("\"use strict\""), std::string::npos);
}

TEST(Page, KnowsHowEachVerdictCounts) {
  const std::string page = html_page(conform_object({}));
  EXPECT_NE(page.find(R"("in-set":"pass")"), std::string::npos);
  EXPECT_NE(page.find(R"("out-of-memory":"fail")"), std::string::npos);
  EXPECT_NE(page.find(R"("harness":"harness")"), std::string::npos);
}

TEST(Page, KnowsTheTitleOfWhatExplainsACase) {
  const std::string page = html_page(conform_object({}));
  const Explanation& known = explanations().front();
  EXPECT_NE(page.find("\"" + std::string(known.id) + "\":\""), std::string::npos);
  EXPECT_NE(page.find("explanations[id]"), std::string::npos);
}

TEST(Page, AHostileDetailStaysData) {
  const TargetRun run{"reference",
                      "onnx",
                      {{"a", "node", "crash", "crash", {}, "</script><script>alert(1)</script>"}}};
  const std::string page = html_page(conform_object(std::span(&run, 1)));
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cscript>alert(1)"), std::string::npos);
}

}  // namespace
}  // namespace touchstone
