// Runs the reference within the limits of a case.
#include "fuzz/meta/reference_runs.h"

#include "core/budget.h"
#include "fuzz/runner.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {

std::vector<Feeds> reference_runs(const Case& one) {
  const Budget budget(limits_of_case());
  const LimitsScope scope(limits_of_case());
  Model model = one.model;
  require_valid(model, limits_of_case());
  std::vector<Feeds> runs;
  for (const Feeds& feeds : one.feeds)
    runs.push_back(touchstone::run(model, feeds, RunOptions{limits_of_case(), {}}));
  return runs;
}

std::string first_other_output(const Case& one, const Feeds& expected, const Feeds& made,
                               judge::ZeroSign zeros) {
  for (const ValueInfo& output : one.model.graph.outputs) {
    const auto a = expected.find(output.name), b = made.find(output.name);
    if (a == expected.end() && b == made.end()) continue;
    if (a == expected.end() || b == made.end()) return output.name;
    if (!judge::is_pass(judge::judge_exact(a->second, b->second, zeros).verdict))
      return output.name;
  }
  return "";
}

}  // namespace touchstone::fuzz
