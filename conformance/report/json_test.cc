// The JSON of conform, field by field, and a log that can be read back.
#include "conformance/report/json.h"

#include <gtest/gtest.h>

namespace touchstone {
namespace {

const CaseResult within{"test_a", "node", "pass", "within", 0.25, ""};
const CaseResult unsupported{"test_b", "node", "unsupported", "unsupported", {}, "Frob-7 \xff"};

TEST(Json, TheObjectIsTheContract) {
  const TargetRun run{"reference", "", "onnx@1.23.2", {within, unsupported}};
  const auto object = conform_object(std::span(&run, 1));
  EXPECT_EQ(object["schema"], "touchstone.conform/1");
  const auto& first = object["runs"][0];
  EXPECT_EQ(first["target"], "reference");
  EXPECT_EQ(first["suite"], "onnx@1.23.2");
  EXPECT_EQ(first["summary"]["cases"], 2);
  EXPECT_EQ(first["summary"]["pass"], 1);
  EXPECT_EQ(first["summary"]["fail"], 0);
  EXPECT_EQ(first["summary"]["unsupported"], 1);
  EXPECT_EQ(first["summary"]["rate"], 1.0);
  EXPECT_EQ(first["summary"]["verdicts"]["within"], 1);
  EXPECT_EQ(first["summary"]["compat"]["pass"], 1);
  std::vector<std::string> keys;
  for (const auto& [key, value] : first["cases"][0].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"name", "kind", "compat", "verdict", "utilisation", "detail"}));
  EXPECT_EQ(first["cases"][0]["utilisation"], 0.25);
  EXPECT_TRUE(first["cases"][1]["utilisation"].is_null());
}

TEST(Json, ALogReadsBackItsOwnTargetAndSuiteOnly) {
  const std::string text = log_line("reference", "onnx", within) + log_line("other", "onnx", unsupported) +
                           log_line("reference", "mine", unsupported) + log_line("reference", "onnx", unsupported) +
                           R"({"target": "reference", "suite": "onnx", "na)";
  const std::vector<CaseResult> results = read_log(text, "reference", "onnx");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].key(), "node/test_a");
  EXPECT_EQ(results[0].verdict, "within");
  EXPECT_EQ(results[0].utilisation, 0.25);
  EXPECT_FALSE(results[1].utilisation);
}

}  // namespace
}  // namespace touchstone
