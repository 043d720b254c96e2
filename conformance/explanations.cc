// Looks cases up in the table of explanations, linearly: suites hold some thousand cases and the
// table some dozen rows.
#include "conformance/explanations.h"

#include <fnmatch.h>

#include <algorithm>

namespace touchstone::conformance {
namespace {

bool asks_for_explanation(const CaseResult& result) {
  const Standing how = standing(result.verdict);
  if (how == Standing::unsupported) return false;
  const bool suite_agrees = result.compat == "pass" || result.compat == "unsupported";
  return how == Standing::fail || how == Standing::mistrusted || how == Standing::harness ||
         !suite_agrees;
}

// True if the list, words separated by one space, contains the word.
bool holds(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return false;
}

}  // namespace

std::string outcome(const CaseResult& result) {
  const bool passes = standing(result.verdict) == Standing::pass;
  return result.compat + "/" +
         std::string(passes ? "pass" : judge::name(verdict_named(result.verdict)));
}

std::vector<std::string> explained_by(std::string_view target,
                                      std::span<const suites::Place> places,
                                      std::string_view outcome,
                                      std::span<const Explanation> table) {
  std::vector<std::string> ids;
  const std::string_view runtime = target.substr(0, target.find(':'));
  for (const Explanation& one : table) {
    const bool of_target = one.target.empty() || one.target == runtime;
    if (!of_target || !holds(one.outcomes, outcome)) continue;
    const bool named = std::ranges::any_of(places, [&](const suites::Place& place) {
      return one.suite == place.suite &&
             fnmatch(std::string(one.pattern).c_str(), place.name.c_str(), 0) == 0;
    });
    if (named && std::ranges::find(ids, one.id) == ids.end()) ids.emplace_back(one.id);
  }
  return ids;
}

std::vector<std::string> explained_by(std::string_view target, std::string_view suite,
                                      const CaseResult& result) {
  const suites::Place only{std::string(suite), result.name};
  const std::span places = result.places.empty() ? std::span(&only, 1) : std::span(result.places);
  return explained_by(target, places, outcome(result));
}

ToExplain to_explain(const TargetRun& run) {
  ToExplain counts;
  for (const CaseResult& result : run.cases) {
    if (!asks_for_explanation(result)) continue;
    const std::vector<std::string> ids = explained_by(run.target, run.suite, result);
    const bool erratum = !ids.empty() && ids.front().starts_with('E');  // errata are sorted first
    ++counts.cases;
    counts.unexplained += ids.empty();
    counts.target_fault += standing(result.verdict) == Standing::fail && !erratum;
  }
  return counts;
}

}  // namespace touchstone::conformance
