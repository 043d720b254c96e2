// Tests the judge of whole graphs on answers with planted faults.
#include "fuzz/graph/judge_graph.h"

#include <gtest/gtest.h>

#include <limits>

#include "fuzz/graph/graph_source.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

struct Answers {
  Case made;
  Model model;
  GraphAnswer plain, tapped;
  RunTarget run;
};

Node node_of(const char* op, std::vector<std::string> inputs, const char* output) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

// The reference's answers of a graph from x to y.
Answers answers_of(std::vector<Node> nodes, Tensor x,
                   std::map<std::string, Tensor> constants = {}) {
  Answers all;
  Graph& graph = all.made.model.graph;
  all.made.model.ir_version = 10;
  all.made.model.opsets[""] = 21;
  graph.name = "two";
  graph.inputs.push_back({"x", tensor_type(Type::float32), {}});
  graph.initializers = std::move(constants);
  for (Node& node : nodes) {
    node.index = static_cast<Index>(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
  }
  graph.outputs.push_back({"y", tensor_type(Type::float32), {}});
  all.made.feeds = {{{"x", std::move(x)}}};
  all.model = all.made.model;
  require_valid(all.model, Limits::trusted());
  all.run = [](const Model& model, const std::vector<Feeds>& feeds) {
    GraphAnswer answer;
    for (const Feeds& one : feeds) answer.outputs.push_back(run(model, one));
    return answer;
  };
  all.plain = all.run(all.model, all.made.feeds);
  all.tapped = all.run(tapped_model(all.model), all.made.feeds);
  return all;
}

Tensor feed_of(const std::vector<float>& items) {
  Tensor made(Type::float32, {static_cast<Index>(items.size())});
  std::copy(items.begin(), items.end(), made.data<float>());
  return made;
}

Answers answers() {
  return answers_of({node_of("Relu", {"x"}, "a"), node_of("Neg", {"a"}, "y")},
                    feed_of({-0.5F, 0.5F, 1.5F}));
}

Value changed(const Value& value) {
  Tensor made(Type::float32, value.tensor().shape());
  for (Index k = 0; k < made.size(); ++k) made.data<float>()[k] = value.tensor().data<float>()[k];
  made.data<float>()[1] += 0.25F;
  return made;
}

TEST(JudgeGraph, AcceptsTheReference) {
  const Answers all = answers();
  const GraphJudgement found = judge_answers(all.model, all.made, all.plain, all.tapped, all.run);
  EXPECT_TRUE(judge::is_pass(found.verdict)) << found.detail;
  EXPECT_EQ(found.judged, 2);
}

TEST(JudgeGraph, BlamesTheFirstNodeThatIsWrong) {
  Answers all = answers();
  all.tapped.outputs[0]["a"] = changed(all.tapped.outputs[0]["a"]);
  const GraphJudgement found = judge_answers(all.model, all.made, all.plain, all.tapped, all.run);
  EXPECT_EQ(found.verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(found.guilty, "Relu-14");
  EXPECT_TRUE(found.tapped);
}

TEST(JudgeGraph, SeesAFaultThatTapsHide) {
  Answers all = answers();
  all.run = [faithful = all.run](const Model& model, const std::vector<Feeds>& feeds) {
    GraphAnswer answer = faithful(model, feeds);
    const bool hides = !answer.outputs[0].contains("a");
    if (hides) answer.outputs[0]["y"] = changed(answer.outputs[0]["y"]);
    return answer;
  };
  all.plain = all.run(all.model, all.made.feeds);
  const GraphJudgement found = judge_answers(all.model, all.made, all.plain, all.tapped, all.run);
  EXPECT_EQ(found.verdict, judge::Verdict::wrong_value);
  EXPECT_EQ(found.guilty, "Neg-13");
  EXPECT_FALSE(found.tapped);
}

// QuantizeLinear of NaN is open, so a target may make another number of it where it is hidden.
TEST(JudgeGraph, WhatTheDefinitionLeavesOpenMayDifferWhereItIsHidden) {
  Tensor zero(Type::uint8, {});
  zero.data<std::uint8_t>()[0] = 128;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto passes = [&](const std::vector<float>& x, std::vector<float> hidden) {
    const Answers all =
        answers_of({node_of("QuantizeLinear", {"x", "scale", "zero"}, "a"),
                    node_of("DequantizeLinear", {"a", "scale", "zero"}, "y")},
                   feed_of(x), {{"scale", feed_of({0.5F}).reshaped({})}, {"zero", zero}});
    const RunTarget run = [&](const Model& model, const std::vector<Feeds>& feeds) {
      GraphAnswer answer = all.run(model, feeds);
      if (!answer.outputs[0].contains("a")) answer.outputs[0]["y"] = feed_of(hidden);
      return answer;
    };
    const GraphAnswer plain = run(all.model, all.made.feeds);
    return judge::is_pass(judge_answers(all.model, all.made, plain, all.tapped, run).verdict);
  };
  EXPECT_TRUE(passes({nan, 0.5F}, {7, 0.5F}));
  EXPECT_TRUE(passes(std::vector<float>(20, nan), std::vector<float>(20, 7)));
  EXPECT_FALSE(passes({1, 0.5F}, {7, 0.5F}));
  std::vector<float> x(20, 0.5F), y(20, 0.5F);
  x[0] = nan, y[0] = 7, y[1] = 1;
  EXPECT_FALSE(passes(x, y));
}

TEST(JudgeGraph, ARefusedRunIsNamed) {
  Answers all = answers();
  all.plain = run_fast(all.model, {{}}, {.threads = 1});
  const GraphJudgement found = judge_answers(all.model, all.made, all.plain, all.tapped, all.run);
  EXPECT_EQ(found.verdict, judge::Verdict::rejected_valid);
  EXPECT_FALSE(found.tapped);
}

TEST(JudgeGraph, TheFastExecutorPassesSomeGraphs) {
  const GraphSource source;
  for (std::uint64_t number = 0; number < 20; ++number) {
    const GraphJudgement found = judge_graph(source.make(number), {.threads = 1});
    EXPECT_FALSE(judge::is_fail(found.verdict))
        << number << " " << found.guilty << " " << found.detail;
  }
}

}  // namespace
}  // namespace touchstone::fuzz
