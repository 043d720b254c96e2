// Tests the source of operator cases over all versions: validity, diversity, determinism, identity.
//
// TOUCHSTONE_DRAWS sets the number of draws per version.
#include "fuzz/op/source.h"

#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "fuzz/op/control.h"
#include "fuzz/op/draw.h"
#include "fuzz/op/testing.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

// Types, shapes and attributes of a case, without data.
std::string form_of(const DraftValue& value) {
  std::string form = value.is_tensor() ? std::string(name(value.type))
                                       : value.container.substr(0, value.container.find('{'));
  for (const Index n : value.dims) form += std::to_string(n) + ",";
  for (const DraftValue& item : value.items) form += form_of(item) + ";";
  return form;
}
std::string form_of(const Draft& draft) {
  std::string form;
  for (const DraftPort& port : draft.ports) form += form_of(port.value) + ";";
  for (const auto& [name, value] : draft.attributes) form += name + "=" + value;
  return form;
}

TEST(OperatorSource, AtLeast95PercentOfDrawsAreValidForEveryVersion) {
  int first = 0, all = 0;
  for (const Signature& signature : all_signatures()) {
    if (known_of_suite().seeds.of(signature).valid.empty()) continue;
    Random random(static_cast<std::uint64_t>(signature.since));
    std::set<std::string> forms;
    int valid = 0;
    for (int k = 0; k < draws(12); ++k) {
      const auto drawn = draw_valid(signature, known_of_suite(), {}, random);
      ++all;
      if (!drawn) continue;
      ++valid;
      if (drawn->attempts == 1) ++first;
      forms.insert(form_of(drawn->draft));
    }
    EXPECT_GE(100 * valid, 95 * draws(12)) << name_of(signature);
    EXPECT_GE(forms.size(), 6U) << name_of(signature);
  }
  // Nearly all draws are valid as first solved, without a retreat to fewer changes.
  EXPECT_GE(100 * first, 90 * all);
}

TEST(OperatorSource, DrawsBodiesThatAreValid) {
  for (const Signature& signature : all_signatures()) {
    if (!has_body_template(signature)) continue;
    Random random(static_cast<std::uint64_t>(signature.since));
    std::set<std::string> texts;
    int valid = 0;
    for (int k = 0; k < draws(12); ++k) {
      const auto one = draw_with_body(signature, {}, random);
      if (!one) continue;
      ++valid;
      texts.insert(one->text);
    }
    EXPECT_GE(100 * valid, 95 * draws(12)) << name_of(signature);
    EXPECT_GE(texts.size(), 6U) << name_of(signature);
  }
}

// A deprecated version refuses each call, and Gradient differentiates the graph before it.
TEST(OperatorSource, HasValidCasesOfEveryVersionThatACallAloneCanRun) {
  for (const Signature& signature : all_signatures()) {
    const bool has_cases =
        !known_of_suite().seeds.of(signature).valid.empty() || has_body_template(signature);
    EXPECT_EQ(has_cases, !signature.deprecated && signature.kind != "function")
        << name_of(signature);
  }
}

TEST(OperatorSource, MakesTheSameCaseOfANumber) {
  const OperatorSource one, other;
  for (std::uint64_t number = 0; number < 40; ++number)
    EXPECT_EQ(one.make(number).text, other.make(number).text);
}

TEST(OperatorSource, MakesACaseAgainFromItsText) {
  const OperatorSource source;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Case one = source.make(number);
    if (one.text.find('#') != std::string::npos) continue;  // a body
    const Case again = OperatorSource::of_line(one.text);
    EXPECT_EQ(again.text, one.text);
    EXPECT_EQ(again.refused, one.refused);
    EXPECT_EQ(again.covered, one.covered);
    EXPECT_EQ(again.feeds.size(), 1U);
  }
}

TEST(OperatorSource, RefusedCasesNameTheRuleThatRefusesThem) {
  const OperatorSource source({.versions = "Conv*", .invalid_percent = 100});
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Case one = source.make(number);
    ASSERT_FALSE(one.refused.empty()) << one.text;
    const Trial found = try_case(suites::model_of(suites::parse_line(one.text)), {});
    EXPECT_FALSE(found.valid);
    EXPECT_EQ(found.rule, one.refused) << one.text;
  }
}

TEST(OperatorSource, KeepsToItsPattern) {
  const OperatorSource source({.versions = "ai.onnx.ml.Sc*-1"});
  for (std::uint64_t number = 0; number < 20; ++number)
    EXPECT_TRUE(source.make(number).text.starts_with("ai.onnx.ml.Scaler-1("));
  EXPECT_THROW(OperatorSource({.versions = "Nobody-*"}), Error);
}

TEST(Draft, IsTheLineThatItWasReadFrom) {
  for (const Signature& signature : all_signatures()) {
    for (const Draft& draft : known_of_suite().seeds.of(signature).valid) {
      const std::string line = text(draft);
      EXPECT_EQ(text(parse_draft(line)), line);
    }
  }
}

}  // namespace
}  // namespace touchstone::fuzz
