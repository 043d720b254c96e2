// Inserts the results into the HTML page. The template is page/page.html; the build joins it with
// its style and script.
#include "conformance/report/page.h"

#include "conformance/explanations.h"
#include "conformance/report/page_text.h"
#include "conformance/results.h"
#include "core/error.h"

namespace touchstone::report {
namespace {

// Returns the standing of each verdict, so that the page does not duplicate that table.
nlohmann::ordered_json standings() {
  nlohmann::ordered_json all;
  for (int code = 0; code <= static_cast<int>(judge::Verdict::harness); ++code) {
    const std::string_view verdict = judge::name(static_cast<judge::Verdict>(code));
    all[std::string(verdict)] = conformance::name(conformance::standing(verdict));
  }
  return all;
}

}  // namespace

std::string html_page(const nlohmann::ordered_json& conform_object) {
  const std::string_view text = page_text;
  const std::string_view mark = "@RESULTS@";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) BUG("the page has no place for results");
  nlohmann::ordered_json results = conform_object;
  results["standings"] = standings();
  for (const conformance::Explanation& one : conformance::explanations())
    results["explanations"][std::string(one.id)] = one.title;
  const std::string json = results.dump(-1, ' ', /*ensure_ascii=*/true,
                                        nlohmann::ordered_json::error_handler_t::replace);
  std::string page(text.substr(0, at));
  for (const char c : json) {
    // "</script>" in a detail would end the data: \u003c is the same JSON but no markup.
    c == '<' ? page += "\\u003c" : page += c;
  }
  page += text.substr(at + mark.size());
  return page;
}

}  // namespace touchstone::report
