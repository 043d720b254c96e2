// Measures cases a second of processor time: drawn alone, then drawn, run on the fast executor and
// judged. Prints the versions that take longest, and each case that the judge refuses.
//
//   op_rate FIRST COUNT [PATTERN [INVALID_PERCENT]]
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "conformance/suites/maker.h"
#include "core/error.h"
#include "fuzz/op/calls.h"
#include "fuzz/op/judged.h"
#include "fuzz/op/source.h"

namespace touchstone::fuzz {
namespace {

// Processor time of this process, whose work runs on one thread.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double seconds_since(double start) { return seconds() - start; }

void print_slowest(const std::map<std::string, double>& by_version) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, seconds] : by_version) sorted.emplace_back(seconds, name);
  std::ranges::sort(sorted, std::greater{});
  sorted.resize(std::min<std::size_t>(sorted.size(), 12));
  for (const auto& [seconds, name] : sorted) fmt::print("  {:8.3f} s {}\n", seconds, name);
}

int measure(std::uint64_t first, std::uint64_t count, const OperatorOptions& drawn) {
  const OperatorSource source(drawn);
  const Knowledge known(suites::lines_of_spec());
  optimized::SessionOptions options;
  options.threads = 1;
  double drawing = 0, judging = 0;
  std::map<std::string, double> drawing_of, judging_of;
  std::map<std::string_view, int> verdicts;
  std::map<std::string, std::set<std::string>> marks;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const double start = seconds();
    Case one;
    try {
      one = source.make(number);
    } catch (const Error& error) {
      fmt::print("none {}\n", error.message);
      continue;
    }
    const double drew = seconds_since(start);
    const double run = seconds();
    const JudgedCase found = judge_on_fast(one, options);
    const double judged = seconds_since(run);
    drawing += drew;
    judging += judged;
    const std::string name = one.text.substr(0, one.text.find_first_of("( "));
    drawing_of[name] += drew;
    judging_of[name] += judged;
    ++verdicts[touchstone::judge::name(found.verdict)];
    for (const std::string& mark : one.covered) marks[mark.substr(0, mark.find('/'))].insert(mark);
    if (!judge::is_fail(found.verdict) && found.verdict != judge::Verdict::harness) continue;
    fmt::print("{} {} {}\n", number, touchstone::judge::name(found.verdict), one.text);
    if (one.text.find('(') == std::string::npos) {
      fmt::print("  {}\n", found.detail);
      continue;
    }
    const Draft least = shrink(parse_draft(one.text), known, drawn.bounds, [&](const Draft& draft) {
      return judge_on_fast(OperatorSource::of_line(text(draft)), options).verdict == found.verdict;
    });
    const JudgedCase still = judge_on_fast(OperatorSource::of_line(text(least)), options);
    fmt::print("  shrunk {}\n  {}\n", text(least), still.detail);
  }
  const auto all = static_cast<double>(count);
  fmt::print("drawn {:.0f}/s, run and judged {:.0f}/s, together {:.0f}/s\n", all / drawing,
             all / judging, all / (drawing + judging));
  for (const auto& [verdict, n] : verdicts) fmt::print("  {} {}\n", verdict, n);
  for (const auto& [kind, each] : marks) fmt::print("  marks of {}: {}\n", kind, each.size());
  fmt::print("longest to draw:\n");
  print_slowest(drawing_of);
  fmt::print("longest to run and judge:\n");
  print_slowest(judging_of);
  return 0;
}

}  // namespace
}  // namespace touchstone::fuzz

int main(int count, char** words) {
  if (count < 3) return 2;
  touchstone::fuzz::OperatorOptions options;
  if (count > 3) options.versions = words[3];
  if (count > 4) options.invalid_percent = std::stol(words[4]);
  return touchstone::fuzz::measure(std::stoull(words[1]), std::stoull(words[2]), options);
}
