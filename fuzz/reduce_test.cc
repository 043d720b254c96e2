// Reduction: a planted fault becomes a line of small extents, and a graph becomes the node that
// shows the fault.
#include "fuzz/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch.h"
#include "fuzz/examiner.h"
#include "fuzz/line_text.h"
#include "fuzz/testing.h"

namespace touchstone::fuzz {
namespace {

using testing::Fault;
constexpr std::chrono::seconds time_limit{60};

class Reductions : public ::testing::Test {
 protected:
  Examiner examiner(const Fault& fault) {
    return Examiner(
        [this, fault] {
          return run_in_process(std::make_unique<testing::FaultyTarget>(fault), scratch_.path());
        },
        {});
  }
  Reduced reduced(const Case& one, const Fault& fault) {
    Examiner examine = examiner(fault);
    const Outcome found = examine(one);
    EXPECT_TRUE(found.is_finding()) << found.detail;
    return reduce(
        one, found, [&](const Case& each) { return examine(each); }, time_limit);
  }
  Scratch scratch_;
};

Case chain(const std::vector<std::string>& ops) {
  Case made;
  made.text = "chain";
  made.model.ir_version = 10;
  made.model.opsets[""] = 21;
  Graph& graph = made.model.graph;
  graph.name = "chain";
  const ValueInfo x{"v0", tensor_type(Type::float32), std::vector<Dim>{{{}, "n"}, {6, ""}}};
  graph.inputs = {x};
  for (std::size_t k = 0; k < ops.size(); ++k) {
    Node node;
    node.op = ops[k];
    node.index = static_cast<Index>(k);
    node.inputs = {"v" + std::to_string(k)};
    node.outputs = {"v" + std::to_string(k + 1)};
    graph.nodes.push_back(node);
  }
  graph.outputs = {{"v" + std::to_string(ops.size()), tensor_type(Type::float32), {}}};
  for (const Index rows : {5, 3}) {
    Tensor fed(Type::float32, {rows, 6});
    for (Index k = 0; k < fed.size(); ++k) fed.data<float>()[k] = static_cast<float>(k) / 8 - 1;
    made.feeds.push_back({{"v0", fed}});
  }
  return made;
}

TEST_F(Reductions, APlantedWrongElementBecomesASmallLine) {
  const Reduced smaller =
      reduced(case_of_line("Softmax-13(float[7,33]~real) axis=1"), {"Softmax", Fault::wrong_last});
  EXPECT_EQ(smaller.outcome.verdict, "wrong-value");
  const LineText line = split_line(smaller.is.text);
  PortText port;
  ASSERT_TRUE(split_port(line.ports.at(0), port)) << smaller.is.text;
  for (const std::string& dim : port.dims) EXPECT_LE(size_of_dim(dim), 4) << smaller.is.text;
  EXPECT_TRUE(line.attributes.empty()) << smaller.is.text;
  EXPECT_TRUE(smaller.in_time);
}

TEST_F(Reductions, ACrashKeepsItsSignature) {
  const Reduced smaller = reduced(
      case_of_line("Clip-13(float[9,n=8]~real, *float[]{-1}, float[]{1})"), {"Clip", Fault::crash});
  EXPECT_EQ(smaller.outcome.verdict, "crash");
  EXPECT_EQ(smaller.outcome.node, "Clip-13");
  EXPECT_EQ(smaller.is.text, "Clip-13(float[]{0})");
}

TEST_F(Reductions, AGraphBecomesItsGuiltyNode) {
  const Reduced smaller =
      reduced(chain({"Neg", "Abs", "Neg", "Tanh"}), {"Tanh", Fault::wrong_last});
  EXPECT_EQ(smaller.outcome.node, "Tanh-13");
  EXPECT_THAT(smaller.is.text, ::testing::StartsWith("Tanh-13(float["));
  EXPECT_EQ(smaller.is.model.graph.nodes.size(), 1);
}

TEST_F(Reductions, AFaultThatOnlyTapsShowIsBlamedOnItsNode) {
  const Reduced smaller = reduced(chain({"Neg", "Tanh", "Abs"}), {"Tanh", Fault::wrong_last});
  EXPECT_EQ(smaller.outcome.node, "Tanh-13");
  EXPECT_EQ(smaller.is.model.graph.nodes.size(), 1) << smaller.is.text;
}

// The fault shows only with the node that makes its input from the graph's.
TEST_F(Reductions, NodesThatTheWrongOutputDoesNotNeedGoAndOthersArePassedBy) {
  Case wide = chain({"Neg", "Abs", "Relu", "Tanh"});
  for (const std::string other : {"Exp", "Sin", "Cos"}) {
    Node node;
    node.op = other;
    node.index = static_cast<Index>(wide.model.graph.nodes.size());
    node.inputs = {"v1"};
    node.outputs = {"of_" + other};
    wide.model.graph.nodes.push_back(node);
    wide.model.graph.outputs.push_back({node.outputs.front(), tensor_type(Type::float32), {}});
  }
  const auto ops = [](const Case& one) {
    std::string all;
    for (const Node& node : one.model.graph.nodes) all += node.op + " ";
    return all;
  };
  std::set<std::string> simpler;
  for (const Case& one : simpler_graphs(wide)) simpler.insert(ops(one));
  EXPECT_THAT(simpler, ::testing::IsSupersetOf({"Neg Abs Relu Tanh ", "Neg Exp ", "Neg Cos ",
                                                "Neg Relu Tanh Exp Sin Cos "}));
  Examiner examine = examiner({});
  for (const Case& one : simpler_graphs(wide)) EXPECT_EQ(examine(one).detail, "") << ops(one);
}

TEST_F(Reductions, ARightTargetHasNoFinding) {
  Examiner examine = examiner({});
  EXPECT_FALSE(examine(chain({"Neg", "Abs", "Tanh"})).is_finding());
  EXPECT_FALSE(examine(case_of_line("Softmax-13(float[7,33]~real) axis=1")).is_finding());
  Case hides = case_of_line("TopK-11(float[5]~real, *int64[1]{2})");
  hides.model.graph.outputs.pop_back();
  EXPECT_EQ(examine(hides).detail, "");
  EXPECT_FALSE(examine(hides).is_finding());
}

TEST(Lines, PartsJoinToTheSameText) {
  for (const std::string line :
       {"Clip-13(float[2,n=3]~special, *float[]{-1}, _) -> x",
        "Gather-13(float16[3,4]~real, int64[2]{0,-1}) axis=1",
        "ai.onnx.ml.Scaler-1(float[1,2]{1,2}) offset=[0.5,1.0] scale=[2.0]",
        "Concat-13(float[2]~real, float[2,2]~real) axis=0 !Concat-13/C2",
        "Constant-13() value=float[1]{2}",
        "SequenceLength-11(seq(tensor(float)){float[1]{1}, float[2]{1,2}})",
        "StringConcat-20(string[2]{\"a, b\",\"c)\"}, string[]{\"\\\"\"})"})
    EXPECT_EQ(join_line(split_line(line)), line);
}

TEST(Lines, ACaseOfOneNodeIsALine) {
  for (const std::string line :
       {"Clip-13(float[2]{1,2.5}, *float[]{-1}, _) -> x",
        "Gather-13(float16[3]{1,inf,-0}, int64[2]{0,-1}) axis=0 -> x",
        "StringConcat-20(string[2]{\"a\",\"c\"}, string[]{\"\\\"\"}) -> x"})
    EXPECT_EQ(line_of(case_of_line(line)), line);
}

}  // namespace
}  // namespace touchstone::fuzz
