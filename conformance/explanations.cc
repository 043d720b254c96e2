// Looks cases up in the table of explanations. Suites hold some thousand cases and the table some
// dozen rows.
#include "conformance/explanations.h"

#include <fnmatch.h>

#include <algorithm>

namespace touchstone {
namespace {

bool asks_for_explanation(const CaseResult& result) {
  const Standing how = standing(result.verdict);
  if (how == Standing::unsupported) return false;
  const bool suite_agrees = result.compat == "pass" || result.compat == "unsupported";
  return how == Standing::fail || how == Standing::mistrusted || how == Standing::harness ||
         !suite_agrees;
}

bool excuses(const std::string& id) {
  const auto row = std::ranges::find(explanations(), std::string_view(id), &Explanation::id);
  return row != explanations().end() && row->excuses;
}

}  // namespace

std::vector<std::string> explained_by(std::string_view target, std::span<const Place> places,
                                      std::span<const Explanation> table) {
  std::vector<std::string> ids;
  const std::string_view runtime = target.substr(0, target.find(':'));
  for (const Explanation& one : table) {
    const bool of_it = one.target.empty() || one.target == runtime;
    const bool speaks = of_it && std::ranges::any_of(places, [&](const Place& place) {
      return one.suite == place.suite &&
             fnmatch(std::string(one.pattern).c_str(), place.name.c_str(), 0) == 0;
    });
    if (speaks && std::ranges::find(ids, one.id) == ids.end()) ids.emplace_back(one.id);
  }
  return ids;
}

std::vector<std::string> explained_by(std::string_view target, std::string_view suite,
                                      const CaseResult& result) {
  if (!result.places.empty()) return explained_by(target, result.places);
  const Place only{std::string(suite), result.name};
  return explained_by(target, std::span(&only, 1));
}

ToExplain to_explain(const TargetRun& run) {
  ToExplain counts;
  for (const CaseResult& result : run.cases) {
    if (!asks_for_explanation(result)) continue;
    const std::vector<std::string> ids = explained_by(run.target, run.suite, result);
    const bool excused = std::ranges::any_of(ids, excuses);
    ++counts.cases;
    counts.unexplained += ids.empty();
    counts.target_fault += standing(result.verdict) == Standing::fail && !excused;
  }
  return counts;
}

}  // namespace touchstone
