// Counts verdicts. Only this file maps verdicts to pass, fail, or neither.
#include "conformance/results.h"

#include "conformance/judge/verdict.h"
#include "core/error.h"

namespace touchstone::conformance {

judge::Verdict verdict_named(std::string_view text) {
  const std::string_view word = text.substr(0, text.find('('));
  for (int code = 0; code <= static_cast<int>(judge::Verdict::harness); ++code) {
    if (judge::name(static_cast<judge::Verdict>(code)) == word)
      return static_cast<judge::Verdict>(code);
  }
  BUG("a verdict that nobody knows");
}

Standing standing(std::string_view text) {
  const judge::Verdict verdict = verdict_named(text);
  if (judge::is_pass(verdict)) return Standing::pass;
  if (judge::is_fail(verdict)) return Standing::fail;
  switch (verdict) {
    case judge::Verdict::open:
      return Standing::open;
    case judge::Verdict::unsupported:
      return Standing::unsupported;
    case judge::Verdict::mistrusted:
      return Standing::mistrusted;
    case judge::Verdict::waived:
      return Standing::waived;
    default:
      return Standing::harness;
  }
}

std::string_view name(Standing standing) {
  switch (standing) {
    case Standing::pass:
      return "pass";
    case Standing::fail:
      return "fail";
    case Standing::open:
      return "open";
    case Standing::unsupported:
      return "unsupported";
    case Standing::harness:
      return "harness";
    case Standing::mistrusted:
      return "mistrusted";
    case Standing::waived:
      return "waived";
  }
  BUG("no such standing");
}

Index Summary::of(Standing standing) const {
  const auto found = standings.find(std::string(name(standing)));
  return found == standings.end() ? 0 : found->second;
}

std::optional<double> Summary::rate() const {
  const Index counted =
      cases - of(Standing::open) - of(Standing::harness) - of(Standing::unsupported);
  if (counted == 0) return {};
  return static_cast<double>(of(Standing::pass)) / static_cast<double>(counted);
}

Summary summarise(const std::vector<CaseResult>& results) {
  Summary summary;
  for (const CaseResult& result : results) {
    ++summary.cases;
    ++summary.standings[std::string(name(standing(result.verdict)))];
    ++summary.verdicts[result.verdict.substr(0, result.verdict.find('('))];
    ++summary.compat[result.compat];
  }
  return summary;
}

FastShare fast_share(const std::vector<CaseResult>& results) {
  FastShare share;
  for (const CaseResult& result : results) {
    if (result.ran.empty()) continue;
    for (FastShare::Of* of : {&share.all, &share.operators[result.subject.op]}) {
      ++of->cases;
      of->fast += result.ran == "fast";
      of->views += result.ran == "view";
      of->folded += result.ran == "folded";
    }
  }
  return share;
}

std::map<std::string, Index> kernel_counts(const std::vector<CaseResult>& results) {
  std::map<std::string, Index> counts;
  for (const CaseResult& result : results) {
    for (const std::string& kernel : result.kernels) ++counts[kernel];
  }
  return counts;
}

}  // namespace touchstone::conformance
