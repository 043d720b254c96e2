// Tests the JSON of conform, field by field, and reading a log back.
#include "conformance/report/json.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/explanations.h"

namespace touchstone::report {
namespace {

const conformance::CaseResult within{
    "test_a",
    "node",
    "pass",
    "within",
    0.25,
    "",
    conformance::JudgedNode{"Exp-13", "elementwise", "float", 9, 2, 0.5}};
const conformance::CaseResult unsupported{"test_b",      "node", "unsupported",
                                          "unsupported", {},     "Frob-7 \xff"};

TEST(Json, WhatRanFastIsSaidAndReadBack) {
  conformance::TargetRun run{"fast", "mine", {within, unsupported}};
  EXPECT_FALSE(conform_object(std::span(&run, 1))["runs"][0]["summary"].contains("float32"));
  run.cases[0].ran = "fast";
  run.cases[0].subject.op = "Exp";
  const auto object = conform_object(std::span(&run, 1));
  const auto& first = object["runs"][0];
  EXPECT_EQ(first["cases"][0]["ran"], "fast");
  EXPECT_FALSE(first["cases"][1].contains("ran"));
  EXPECT_EQ(first["summary"]["float32"]["cases"], 1);
  EXPECT_EQ(first["summary"]["float32"]["fast"], 1);
  EXPECT_EQ(first["summary"]["float32"]["operators"]["Exp"]["fast"], 1);
  EXPECT_EQ(read_log(log_line("fast", "mine", run.cases[0]), "fast", "mine").at(0).ran, "fast");
}

TEST(Json, KernelsAreCountedByClassAndReadBack) {
  conformance::TargetRun run{"fast", "mine", {within, within, within}};
  EXPECT_FALSE(conform_object(std::span(&run, 1))["runs"][0]["summary"].contains("kernels"));
  run.cases[0].kernels = {"pool", "view"};
  run.cases[1].kernels = {"pool"};
  run.cases[2].ran = "folded";
  run.cases[2].kernels = {"folded"};
  const auto object = conform_object(std::span(&run, 1));
  const auto& first = object["runs"][0];
  EXPECT_EQ(first["summary"]["kernels"].dump(), R"({"folded":1,"pool":2,"view":1})");
  EXPECT_EQ(first["summary"]["float32"]["fast"], 0);
  EXPECT_EQ(first["summary"]["float32"]["folded"], 1);
  EXPECT_EQ(first["cases"][0]["kernels"].dump(), R"(["pool","view"])");
  EXPECT_EQ(read_log(log_line("fast", "mine", run.cases[0]), "fast", "mine").at(0).kernels,
            run.cases[0].kernels);
}

TEST(Json, TheObjectIsTheContract) {
  const conformance::TargetRun run{"reference", "onnx@1.23.2", {within, unsupported}};
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
  EXPECT_EQ(first["summary"]["to_explain"], 0);
  EXPECT_EQ(first["summary"]["unexplained"], 0);
  EXPECT_EQ(first["summary"]["target_fault"], 0);
  std::vector<std::string> keys;
  for (const auto& [key, value] : first["cases"][0].items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"name", "kind", "compat", "verdict", "utilisation", "detail",
                                      "op", "since", "values", "judged", "explained"}));
  EXPECT_EQ(
      first["cases"][0]["judged"].dump(),
      R"({"node":"Exp-13","form":"elementwise","type":"float","elements":9,"open":2,"resolution":0.5})");
  EXPECT_FALSE(first["cases"][1].contains("judged"));
  EXPECT_TRUE(first["cases"][0]["explained"].empty());
  EXPECT_EQ(first["cases"][0]["utilisation"], 0.25);
  EXPECT_TRUE(first["cases"][1]["utilisation"].is_null());
}

TEST(Json, ACaseNamesWhatExplainsIt) {
  const auto refused = [](const conformance::Explanation& one) {
    return one.target == "onnxruntime" && one.outcomes == "wrong-value/wrong-value";
  };
  const auto found = std::ranges::find_if(conformance::explanations(), refused);
  ASSERT_NE(found, conformance::explanations().end());
  const conformance::Explanation& known = *found;
  const conformance::CaseResult failed{
      std::string(known.pattern), "node", "wrong-value", "wrong-value", {}, ""};
  const conformance::TargetRun run{"onnxruntime", std::string(known.suite), {failed}};
  const auto object = conform_object(std::span(&run, 1));
  EXPECT_EQ(object["runs"][0]["cases"][0]["explained"].dump(),
            "[\"" + std::string(known.id) + "\"]");
  EXPECT_EQ(object["runs"][0]["summary"]["to_explain"], 1);
  EXPECT_EQ(object["runs"][0]["summary"]["unexplained"], 0);
  EXPECT_EQ(object["runs"][0]["summary"]["fail"], 1) << "an explanation is no pass";
  EXPECT_NE(
      log_line(run.target, run.suite, failed).find(R"("explained":[")" + std::string(known.id)),
      std::string::npos);
}

TEST(Json, ALogReadsBackItsOwnTargetAndSuiteOnly) {
  const std::string text =
      log_line("reference", "onnx", within) + log_line("other", "onnx", unsupported) +
      log_line("reference", "mine", unsupported) + log_line("reference", "onnx", unsupported) +
      R"({"target": "reference", "suite": "onnx", "na)";
  const std::vector<conformance::CaseResult> results = read_log(text, "reference", "onnx");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].key(), "node/test_a");
  EXPECT_EQ(results[0].verdict, "within");
  EXPECT_EQ(results[0].utilisation, 0.25);
  ASSERT_TRUE(results[0].judged);
  EXPECT_EQ(to_json(results[0]), to_json(within));
  EXPECT_FALSE(results[1].utilisation);
}

}  // namespace
}  // namespace touchstone::report
