// Tests the judge of whole graphs on answers with planted faults.
#include "fuzz/graph/judge_graph.h"

#include <gtest/gtest.h>

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

// The reference's answers to x -> Relu -> Neg -> y.
Answers answers() {
  Answers all;
  Graph& graph = all.made.model.graph;
  all.made.model.ir_version = 10;
  all.made.model.opsets[""] = 21;
  graph.name = "two";
  graph.inputs.push_back({"x", tensor_type(Type::float32), {}});
  for (const auto& [op, from, to] : {std::array{"Relu", "x", "a"}, {"Neg", "a", "y"}}) {
    Node node;
    node.op = op;
    node.inputs = {from};
    node.outputs = {to};
    node.index = static_cast<Index>(graph.nodes.size());
    graph.nodes.push_back(node);
  }
  graph.outputs.push_back({"y", tensor_type(Type::float32), {}});
  Tensor x(Type::float32, {3});
  for (Index k = 0; k < 3; ++k) x.data<float>()[k] = static_cast<float>(k) - 0.5F;
  all.made.feeds = {{{"x", x}}};
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
