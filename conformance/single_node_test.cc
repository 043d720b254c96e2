// Tests which nodes can be judged alone, and the texts of judgements.
#include "conformance/single_node.h"

#include <gtest/gtest.h>

namespace touchstone::conformance {
namespace {

Model one_node(Node node) {
  Model model;
  model.graph.outputs = {{"y", {}, {}}};
  node.outputs = {"y"};
  model.graph.nodes = {std::move(node)};
  return model;
}

TEST(SingleNode, ABodyOrAFunctionIsNotJudgedFromOutside) {
  EXPECT_EQ(why_not_judged(one_node({})), "");
  Node with_body;
  with_body.attributes["body"].is = std::make_shared<const Graph>();
  EXPECT_NE(why_not_judged(one_node(with_body)), "");
  Node of_function;
  of_function.function = std::make_shared<const Function>();
  EXPECT_NE(why_not_judged(one_node(of_function)), "");
}

TEST(SingleNode, OutputsMustBeTheNodes) {
  Model model = one_node({});
  model.graph.outputs.push_back({"x", {}, {}});
  EXPECT_NE(why_not_judged(model), "");
  EXPECT_NE(why_not_judged(Model{}), "");
}

judge::NodeJudgement judged(judge::Verdict verdict, judge::Comparison one) {
  judge::NodeJudgement judgement;
  judgement.verdict = one.verdict = verdict;
  judgement.outputs = {one};
  return judgement;
}

TEST(SingleNode, AJudgementSaysWhatIsNotPlain) {
  const Node node = one_node({}).graph.nodes[0];
  EXPECT_EQ(describe(node, judged(judge::Verdict::exact, {})), "");
  judge::Comparison wrong;
  wrong.where = 3;
  wrong.actual = "2.5 (0x40200000)";
  wrong.expected = "2 (0x40000000)";
  EXPECT_EQ(describe(node, judged(judge::Verdict::wrong_value, wrong)),
            "output 'y': element 3 is 2.5 (0x40200000) for 2 (0x40000000)");
  judge::Comparison partly;
  partly.elements = 9;
  partly.judged = 3;
  partly.open = 1;
  EXPECT_EQ(describe(node, judged(judge::Verdict::within, partly)),
            "output 'y': 3 of 9 elements judged, 1 open");
  judge::NodeJudgement fast = judged(judge::Verdict::within, {});
  fast.cls = Class::fast;
  EXPECT_EQ(describe(node, fast), "right in class fast only");
}

TEST(SingleNode, UtilisationIsThereOnlyWithABound) {
  judge::Comparison exact;
  exact.judged = 4;
  EXPECT_FALSE(utilisation(judged(judge::Verdict::exact, exact)));
  judge::Comparison within;
  within.judged = 4;
  within.utilisation_max = 0.25;
  EXPECT_EQ(utilisation(judged(judge::Verdict::within, within)), 0.25);
}

}  // namespace
}  // namespace touchstone::conformance
