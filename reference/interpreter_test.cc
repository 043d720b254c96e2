// Runs of flat graphs: values, defaults, lifetimes, taps, and every error that refuses a run.
#include "reference/interpreter.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "reference/plan.h"
#include "reference/testing.h"

namespace touchstone::testing {
namespace {

class Interpreter : public ::testing::Test {
 protected:
  ~Interpreter() override { mischief() = Mischief(); }
};

using Floats = std::vector<float>;

TEST_F(Interpreter, RunsNodesInOrder) {
  const Model made = chain(
      {node("Neg", {"X"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Add", {"a", "b"}, {"Y"})});
  EXPECT_EQ(held(run_floats(made, {1, -2}).at("Y")), (Floats{-1, 4}));
}

TEST_F(Interpreter, InitializersAreConstantsOrDefaults) {
  Model made = chain({node("Add", {"X", "w"}, {"Y"})});
  made.graph.initializers.emplace("w", tensor({10}));
  EXPECT_EQ(held(run_floats(made, {1}).at("Y")), Floats{11});
  made.graph.inputs.push_back(floats("w"));
  EXPECT_EQ(held(run_floats(made, {1}).at("Y")), Floats{11});
  resolve(made);
  EXPECT_EQ(held(run(made, {{"X", tensor({1})}, {"w", tensor({20})}}).at("Y")), Floats{21});
}

TEST_F(Interpreter, SparseInitializersAreSeenDense) {
  Model made = chain({node("Add", {"X", "w"}, {"Y"})});
  SparseTensor sparse{tensor({5}), Tensor(Type::int64, Shape{1}), Shape{2}};
  *sparse.indices.data<Index>() = 1;
  made.graph.sparse_initializers.emplace("w", sparse);
  EXPECT_EQ(held(run_floats(made, {1, 1}).at("Y")), (Floats{1, 6}));
}

TEST_F(Interpreter, AnInputAndAnInitializerCanBeOutputs) {
  Model made = chain({});
  made.graph.outputs = {floats("X"), floats("w")};
  made.graph.initializers.emplace("w", tensor({3}));
  const auto outputs = run_floats(made, {1});
  EXPECT_EQ(held(outputs.at("X")), Floats{1});
  EXPECT_EQ(held(outputs.at("w")), Floats{3});
}

TEST_F(Interpreter, UnsupportedOperatorsAreNamedBeforeAnythingRuns) {
  Model made = chain({node("Relu", {"X"}, {"a"}), node("Tanh", {"a"}, {"b"}),
                      node("Tanh", {"b"}, {"c"}), node("Abs", {"c"}, {"Y"})});
  bool ran = false;
  RunOptions options;
  options.tap = [&](const Call&, const std::string&) { ran = true; };
  const Error error = thrown("", [&] { run_floats(made, {1}, options); });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_STREQ(error.what(), "unsupported: Abs-13 (1 node), Tanh-13 (2 nodes)");
  EXPECT_FALSE(ran);
}

TEST_F(Interpreter, ABadNodeIsRefusedEvenIfNobodyChecked) {
  thrown("model/input-count", [] { run_floats(chain({node("Add", {"X"}, {"Y"})}), {1}); });
  thrown("model/attribute-missing", [] { run_floats(chain({node("Concat", {"X"}, {"Y"})}), {1}); });
  thrown("model/undefined-name", [] { run_floats(chain({node("Relu", {"nobody"}, {"Y"})}), {1}); });
  thrown("model/undefined-name", [] { run_floats(chain({node("Relu", {"X"}, {"a"})}), {1}); });
  Model unresolved = chain({node("Relu", {"X"}, {"Y"})});
  EXPECT_EQ(thrown("", [&] { run(unresolved, {}); }).kind, ErrorKind::usage);
}

TEST_F(Interpreter, TypesAreHeldWhileRunning) {
  Model made = chain({node("Add", {"X", "w"}, {"Y"})});
  made.graph.initializers.emplace("w", Tensor(Type::int64, Shape{1}));
  const Error error = thrown("model/type", [&] { run_floats(made, {1}); });
  EXPECT_EQ(error.place, "node #0 (Add), output 'Y', main graph");
}

TEST_F(Interpreter, ErrorsOfKernelsSayWhere) {
  Model made = chain({node("Add", {"X", "w"}, {"Y"})});
  made.graph.nodes[0].name = "sum";
  made.graph.initializers.emplace("w", tensor({1, 2}));
  const Error error = thrown("Add-14/C1", [&] {
    try {
      run_floats(made, {1});
    } catch (Error& raised) {
      throw std::move(raised).with_help("none");
    }
  });
  EXPECT_EQ(error.place, "node 'sum' (Add), output 'Y', main graph");
}

TEST_F(Interpreter, FeedsAreChecked) {
  EXPECT_EQ(thrown("feed/name",
                   [] {
                     Model made = chain({node("Relu", {"X"}, {"Y"})});
                     resolve(made);
                     run(made, {{"Z", tensor({})}});
                   })
                .kind,
            ErrorKind::usage);
}

TEST_F(Interpreter, AKernelFillsWhatIsWanted) {
  mischief().leave_output_out = true;
  EXPECT_EQ(thrown("", [] { run_floats(chain({node("Relu", {"X"}, {"Y"})}), {1}); }).kind,
            ErrorKind::internal);
}

TEST_F(Interpreter, RunningOutOfMemoryIsAnError) {
  for (bool* wrong : {&mischief().run_out_of_memory, &mischief().ask_for_too_much}) {
    *wrong = true;
    const Error error = thrown("", [] { run_floats(chain({node("Relu", {"X"}, {"Y"})}), {1}); });
    EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
    EXPECT_EQ(error.place, "node #0 (Relu), output 'Y', main graph");
    *wrong = false;
  }
}

TEST_F(Interpreter, RanksHaveALimit) {
  RunOptions options;
  options.limits.rank_run = 5;
  mischief().rank = 5;
  EXPECT_NO_THROW(run_floats(chain({node("Relu", {"X"}, {"Y"})}), {1}, options));
  mischief().rank = 6;
  try {
    run_floats(chain({node("Relu", {"X"}, {"Y"})}), {1}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "limit/rank_run");
  }
}

TEST_F(Interpreter, ElementsHaveALimit) {
  RunOptions options;
  options.limits.elements = 3;
  const Model made = chain({node("Relu", {"X"}, {"Y"})});
  EXPECT_NO_THROW(run_floats(made, {1, 2, 3}, options));
  thrown("limit/elements", [&] { run_floats(made, {1, 2, 3, 4}, options); });
}

// Copies of an optional alias its item, so a weak pointer detects the end of the last copy.
TEST_F(Interpreter, ValuesAreDroppedAfterTheirLastUse) {
  Model made = chain(
      {node("Identity", {"O"}, {"a"}), node("Identity", {"a"}, {"b"}), node("Neg", {"X"}, {"Y"})});
  made.graph.inputs.push_back(value("O", parse_value_type("optional(tensor(float))")));
  resolve(made);
  auto item = std::make_shared<const Value>(tensor({1}));
  const std::weak_ptr<const Value> watch = item;
  std::vector<bool> alive;
  RunOptions options;
  options.tap = [&](const Call&, const std::string&) { alive.push_back(!watch.expired()); };
  std::map<std::string, Value> feeds{{"X", tensor({1})},
                                     {"O", Optional{tensor_type(Type::float32), item}}};
  item.reset();
  run(made, std::move(feeds), options);
  EXPECT_EQ(alive, (std::vector<bool>{true, true, false}));
}

TEST_F(Interpreter, LifetimesEndWithTheLastUse) {
  const Graph body = graph({node("Add", {"a", "inner"}, {"s"})}, {floats("inner")}, {floats("s")});
  const std::vector<Node> nodes{
      node("Neg", {"x"}, {"a"}), node("Neg", {"x"}, {"b"}),
      node("Loop", {"n", "", "b"}, {"c"}, {{"body", graph_attribute(body)}}),
      node("Neg", {"c"}, {"y"})};
  Lifetimes dead = plan_lifetimes(nodes, {"x", "n", "unused"}, {"y"});
  for (auto& names : dead) std::sort(names.begin(), names.end());
  EXPECT_EQ(dead, (Lifetimes{{}, {"x"}, {"a", "b", "n"}, {"c"}}));
}

TEST_F(Interpreter, TapsSeeEveryNode) {
  std::vector<std::string> seen;
  RunOptions options;
  options.tap = [&](const Call& call, const std::string& path) {
    EXPECT_EQ(call.inputs.size(), call.node->inputs.size());
    EXPECT_FALSE(call.outputs[0].absent());
    seen.push_back(path + ":" + call.node->outputs[0]);
  };
  run_floats(chain({node("Neg", {"X"}, {"a"}), node("Relu", {"a"}, {"Y"})}), {1}, options);
  EXPECT_EQ(seen, (std::vector<std::string>{":a", ":Y"}));
}

TEST_F(Interpreter, OneOperatorByItself) {
  const Signature* relu = find_signature("", "Relu", 14);
  EXPECT_EQ(held(evaluate(*relu, {}, {tensor({-1, 2})})[0]), (Floats{0, 2}));
  thrown("model/input-count", [&] { evaluate(*relu, {}, {}); });
  thrown("model/input-missing", [&] { evaluate(*relu, {}, {Value()}); });
  thrown("model/type", [&] { evaluate(*relu, {}, {scalar(true)}); });
  EXPECT_EQ(thrown("", [] { evaluate(*find_signature("", "Tanh", 14), {}, {tensor({1})}); }).kind,
            ErrorKind::unsupported);
}

TEST_F(Interpreter, WorkMemoryAndTimeEndARunAtTheNode) {
  const Model made = chain({node("Neg", {"X"}, {"a"}), node("Relu", {"a"}, {"Y"})});
  const auto limited = [&](Index Limits::*limit, Index enough, const char* name) {
    RunOptions options;
    options.limits.*limit = enough;
    EXPECT_NO_THROW(run_floats(made, {1}, options)) << name;
    options.limits.*limit = enough - 1;
    const Error error =
        thrown("limit/" + std::string(name), [&] { run_floats(made, {1}, options); });
    EXPECT_EQ(error.kind, ErrorKind::limit);
    EXPECT_EQ(error.place, "node #1 (Relu), output 'Y', main graph") << name;
  };
  limited(&Limits::work, 2, "work");
  const auto account = std::make_shared<MemoryAccount>(unlimited);
  RunOptions options;
  options.account = account;
  Index most = 0;
  options.tap = [&](const Call&, const std::string&) { most = std::max(most, account->alive()); };
  run_floats(made, {1}, options);
  EXPECT_EQ(account->alive(), 0) << "a run that is over holds nothing";
  EXPECT_GT(most, 0);
  limited(&Limits::memory, most, "memory");
}

TEST_F(Interpreter, ACancelledRunStopsAtTheNextNode) {
  const Model made = chain({node("Neg", {"X"}, {"a"}), node("Relu", {"a"}, {"Y"})});
  std::atomic<bool> stop{false};
  int ran = 0;
  RunOptions options;
  options.cancel.flag = &stop;
  options.tap = [&](const Call&, const std::string&) { ++ran, stop = true; };
  const Error error = thrown("", [&] { run_floats(made, {1}, options); });
  EXPECT_EQ(error.kind, ErrorKind::cancelled);
  EXPECT_EQ(ran, 1);
  stop = false;
  options.tap = nullptr;
  EXPECT_EQ(held(run_floats(made, {1}, options).at("Y")), Floats{0});
}

}  // namespace
}  // namespace touchstone::testing
