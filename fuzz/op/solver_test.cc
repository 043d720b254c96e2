// Tests the solver: its evaluation of rules on the lines of the suite, its repairs and its
// breaches.
#include "fuzz/op/solver.h"

#include <gtest/gtest.h>

#include "fuzz/op/testing.h"

namespace touchstone::fuzz {
namespace {

const NamedTerm* broken_rule(Draft& draft) {
  Random random(1);
  const Knowledge& known = known_of_suite();
  return Solver(draft, known.programs.of(*draft.signature), known.seeds.of(*draft.signature), {},
                random)
      .broken();
}

std::string rule_of(const Draft& draft, const NamedTerm& rule) {
  return std::string(draft.signature->op) + "-" + std::to_string(draft.signature->since) + "/" +
         rule.name;
}

TEST(Evaluator, HoldsEveryRuleOfEveryValidLine) {
  for (const Signature& signature : all_signatures()) {
    for (Draft draft : known_of_suite().seeds.of(signature).valid) {
      const NamedTerm* const rule = broken_rule(draft);
      EXPECT_EQ(rule, nullptr) << text(draft) << " breaks " << rule->name;
    }
  }
}

// Rules that read elements of a regime, or types that an attribute names, may stay unknown.
TEST(Evaluator, FindsTheRuleThatALineBreaks) {
  int all = 0, found = 0;
  for (const Signature& signature : all_signatures()) {
    const Program& program = known_of_suite().programs.of(signature);
    for (const Draft& draft : known_of_suite().seeds.of(signature).refused) {
      for (const NamedTerm& rule : program.rules) {
        if (rule_of(draft, rule) != draft.refused) continue;
        const auto holds = Evaluator(draft, program).condition(rule.term);
        EXPECT_NE(holds, true) << text(draft);
        ++all;
        if (holds == false) ++found;
      }
    }
  }
  EXPECT_GT(all, 1000);
  EXPECT_GE(100 * found, 90 * all);
}

struct Repair {
  const char* broken;
  std::vector<std::pair<std::size_t, Index>> pinned;  // dimensions that the solution keeps
};

TEST(Solver, RepairsSizesAroundPinnedOnes) {
  const Repair repairs[] = {
      {"Conv-22(float[1,6,9]{1}, float[4,2,3]{1}, float[7]{1})", {{0, 1}}},
      {"Conv-22(float[1,1,9]{1}, float[4,2,3]{1}) group=3", {{1, 1}}},
      {"LSTM-22(float[2,3,5]{1}, float[1,4,1]{1}, float[1,4,7]{1})", {{2, 2}}},
      {"Concat-13(float[4,5]{1}, float[4,6,2]{1}) axis=-3", {{0, 0}}},
      {"Transpose-25(float[2,3,4,5]{1}) perm=[1,1]", {{0, -1}}},
      {"MatMul-13(float[2,3,4]{1}, float[5,7,6]{1})", {{0, 2}}},
      {"Add-14(float[2,3]{1}, float[4,5]{1})", {{1, 1}}},
      {"BatchNormalization-15(float[2,31,4]{1}, float[1]{1}, float[2]{1}, float[3]{1}, float[]{1})",
       {{0, 1}}},
      {"Attention-25(float[2,6,3,8]{1}, float[2,4,5,2]{1}, float[1,3,5,8]{1})", {{0, 1}, {0, 3}}},
  };
  const Knowledge& known = known_of_suite();
  for (const Repair& each : repairs) {
    Draft draft = parse_draft(each.broken);
    ASSERT_NE(broken_rule(draft), nullptr) << each.broken;
    Pinned pinned;
    std::vector<Index> kept;
    for (const auto& [port, d] : each.pinned) {
      pinned.dims.emplace(port, d);
      kept.push_back(d < 0 ? 0 : draft.ports[port].value.dims[static_cast<std::size_t>(d)]);
    }
    Random random(3);
    EXPECT_TRUE(Solver(draft, known.programs.of(*draft.signature), known.seeds.of(*draft.signature),
                       pinned, random)
                    .solve())
        << each.broken;
    suites::LineModel made;
    const auto found = try_draft(draft, {}, made);
    EXPECT_TRUE(found && found->valid) << text(draft) << (found ? found->why : "");
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const auto& [port, d] = each.pinned[k];
      if (d < 0) continue;
      ASSERT_GT(draft.ports[port].value.dims.size(), static_cast<std::size_t>(d)) << text(draft);
      EXPECT_EQ(draft.ports[port].value.dims[static_cast<std::size_t>(d)], kept[k]) << text(draft);
    }
  }
}

TEST(Solver, BreaksOneRuleAlone) {
  const Knowledge& known = known_of_suite();
  int broken = 0, all = 0;
  for (const char* line :
       {"Conv-22(float[1,2,9]{1}, float[4,2,3]{1}, float[4]{1})",
        "Concat-13(float[4,5]{1}, float[4,6]{1}) axis=1",
        "Gather-13(float[4,5]{1}, int64[2]{1}) axis=1", "Transpose-25(float[2,3]{1}) perm=[1,0]"}) {
    const Draft valid = parse_draft(line);
    const Program& program = known.programs.of(*valid.signature);
    for (const NamedTerm& rule : program.rules) {
      ++all;
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Draft draft = valid;
        Random random(seed);
        if (!Solver(draft, program, known.seeds.of(*draft.signature), {}, random).breach(rule.term))
          continue;
        suites::LineModel made;
        const auto found = try_draft(draft, {}, made);
        EXPECT_TRUE(found && !found->valid) << text(draft);
        if (found && found->rule == rule_of(draft, rule)) {
          ++broken;
          break;
        }
      }
    }
  }
  EXPECT_GE(broken, all - 2);
}

}  // namespace
}  // namespace touchstone::fuzz
