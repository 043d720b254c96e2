// Property tests by RapidCheck over drawn calls, and tests of their shrinking.
#include "fuzz/op/calls.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fuzz/op/judged.h"
#include "fuzz/op/simplify.h"
#include "fuzz/op/source.h"
#include "fuzz/op/testing.h"

namespace touchstone::fuzz {
namespace {

JudgedCase judged(const Draft& draft) {
  optimized::SessionOptions options;
  options.threads = 1;
  return judge_on_fast(OperatorSource::of_line(text(draft)), options);
}

TEST(Calls, FastAgreesWithTheJudge) {
  EXPECT_TRUE(rc::check("fast agrees with the judge", [] {
    const Draft draft = *valid_calls(known_of_suite(), "*", {});
    const JudgedCase found = judged(draft);
    RC_ASSERT(!judge::is_fail(found.verdict));
  }));
}

// Calls that the fast executor once answered wrongly.
TEST(Calls, FoundFaultsStayMended) {
  for (const char* line :
       {"ReduceMean-13(int32[1,2,3]{1,5,9}) axes=[2]", "ReduceMean-13(bfloat16[1,1,1]{1}) axes=[2]",
        "ConvTranspose-22(float[1,1,1]{1}, *float[1,1,2]{-inf})",
        "Conv-1(float[1,1,7,2]{1,2,3,4}, *float[1,1,0,2]{1}) pads=[0,0,1,1]"}) {
    const JudgedCase found = judged(parse_draft(line));
    EXPECT_TRUE(judge::is_pass(found.verdict) || found.verdict == judge::Verdict::mistrusted)
        << line << ": " << found.detail;
  }
}

TEST(Calls, EveryShrinkIsValidAndSimpler) {
  Random random(5);
  for (const char* version : {"Conv", "LSTM", "Gather", "Concat", "Reshape"}) {
    const Signature& signature = *find_signature("", version, newest_opset(""));
    const auto drawn = draw_valid(signature, known_of_suite(), {}, random);
    ASSERT_TRUE(drawn);
    auto shrinks = shrinkable_call(drawn->draft, known_of_suite(), {}).shrinks();
    for (int k = 0; k < 20; ++k) {
      const auto next = shrinks.next();
      if (!next) break;
      suites::LineModel made;
      const Draft draft = next->value();
      EXPECT_TRUE(try_draft(draft, {}, made)->valid) << text(draft);
      EXPECT_LT(complexity(draft), complexity(drawn->draft));
    }
  }
}

TEST(Calls, ShrinksToTheCauseOfAFailure) {
  const Draft draft = parse_draft(
      "Conv-22(float[2,4,9,17]~special, *float[6,2,3,3]~real, float[6]~logs) group=2 "
      "pads=[1,1,1,1] strides=[2,2]");
  // The fault: strides of 2 along an image of more than 2.
  const Draft least = shrink(draft, known_of_suite(), {}, [](const Draft& call) {
    const auto strides = call.attributes.find("strides");
    return strides != call.attributes.end() && strides->second.find('2') != std::string::npos &&
           call.ports[0].value.dims.back() > 2;
  });
  EXPECT_FALSE(least.attributes.contains("group"));
  EXPECT_FALSE(least.attributes.contains("pads"));
  EXPECT_EQ(least.ports.size(), 2U);
  EXPECT_LE(least.ports[0].value.size(), 9) << text(least);
}

TEST(Calls, KeepsTheRuleOfARefusedCall) {
  const Draft draft = parse_draft(
      "Concat-13(float[4,5]~real, float[4,6,2]~real, float[4,7]~real) axis=1 !Concat-13/C2");
  const Draft least = shrink(draft, known_of_suite(), {}, [](const Draft&) { return true; });
  EXPECT_EQ(least.refused, "Concat-13/C2");
  suites::LineModel made;
  EXPECT_EQ(try_draft(least, {}, made)->rule, "Concat-13/C2") << text(least);
  EXPECT_LT(complexity(least), complexity(draft));
}

}  // namespace
}  // namespace touchstone::fuzz
