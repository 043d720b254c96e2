// Tests the changes of each pass, the graphs that it leaves alone, and that each can be switched
// off.
#include "transform/optimize/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "transform/optimize/graph_passes.h"
#include "transform/optimize/matcher.h"
#include "transform/optimize/pattern.h"
#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::attribute;
using testing::floats;
using testing::function;
using testing::graph;
using testing::node;
using testing::tensor;

TEST(Passes, FoldWhatDependsOnConstantsAlone) {
  const Model model = sum_of_constants();
  const Optimized made = optimized(model, {"fold-constants"});
  ASSERT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(changes(made, "fold-constants"), 1);
  EXPECT_EQ(run_on(made.model, {10, 20}), std::vector<float>({14, 26}));
}

TEST(Passes, ACancelIsSeenAmongTheNodes) {
  std::vector<Node> nodes;
  for (int k = 0; k < 300; ++k)
    nodes.push_back(node("Neg", {k == 0 ? "X" : "v" + std::to_string(k)},
                         {k == 299 ? "Y" : "v" + std::to_string(k + 1)}));
  const Model model = sound(testing::chain(std::move(nodes)));
  for (Index (*const pass)(MutableGraph&) :
       {share_nodes, drop_dead, fold_constants, fold_weights}) {
    MutableGraph graph(model, {});
    EXPECT_TRUE(testing::stops_when_cancelled([&] { pass(graph); }));
  }
  MutableGraph graph(model, {});
  EXPECT_TRUE(testing::stops_when_cancelled([&] { apply_pattern(all_patterns().front(), graph); }));
}

TEST(Passes, LevelNoneChangesNothing) {
  PassOptions options;
  options.level = Level::none;
  const Optimized made = optimize(sum_of_constants(), options);
  EXPECT_EQ(made.model.graph.nodes.size(), 2U);
  EXPECT_TRUE(made.counts.empty());
}

TEST(Passes, AreEachSwitchedOffByName) {
  for (const Pass& pass : all_passes()) {
    PassOptions options;
    options.without = {std::string(pass.name)};
    EXPECT_EQ(changes(optimize(sum_of_constants(), options), pass.name), 0) << pass.name;
  }
}

SharedMetadata about(const char* text) {
  return std::make_shared<Metadata>(Metadata{text, {{"key", text}}});
}

TEST(Passes, KeepMetadata) {
  Node call = node("F", {"X"}, {"c"}), last = node("Add", {"c", "w"}, {"Y"});
  call.domain = "local";
  call.metadata = about("the call");
  last.metadata = about("the sum");
  Model model = testing::chain({call, last});
  model.graph.initializers = {{"w", tensor({1, 2})}, {"dead", tensor({3, 4})}};
  model.graph.initializer_metadata = {{"w", about("w")}, {"dead", about("dead")}};
  model.graph.values = {floats("c"), floats("w"), floats("gone")};
  model.graph.metadata = about("the graph");
  model.metadata = about("the model");
  model.graph.inputs[0].metadata = about("X");
  model.producer = "p", model.producer_version = "2", model.domain = "d";
  model.model_version = 3;
  model.opsets["local"] = 1;
  Node own = node("Neg", {"b"}, {"y"});
  own.metadata = about("the body");
  model.functions = {function("F", {"x"}, {"y"}, {node("Abs", {"x"}, {"b"}), own})};
  const Model made = optimize(sound(model), {}).model;
  ASSERT_EQ(made.graph.nodes.size(), 3U);
  EXPECT_EQ(made.graph.nodes[0].metadata, call.metadata);  // from the call that it was inlined from
  EXPECT_EQ(made.graph.nodes[1].metadata, own.metadata);
  EXPECT_EQ(made.graph.nodes[2].metadata, last.metadata);
  EXPECT_EQ(made.metadata, model.metadata);
  EXPECT_EQ(made.graph.metadata, model.graph.metadata);
  EXPECT_EQ(made.graph.inputs[0].metadata, model.graph.inputs[0].metadata);
  EXPECT_EQ(made.producer + made.producer_version + made.domain, "p2d");
  EXPECT_EQ(made.model_version, 3);
  ASSERT_EQ(made.graph.initializer_metadata.size(), 1U);
  EXPECT_EQ(made.graph.initializer_metadata.at("w")->doc_string, "w");
  ASSERT_EQ(made.graph.values.size(), 2U);
  EXPECT_EQ(made.graph.values[0].name, "c");
  EXPECT_EQ(made.graph.values[1].name, "w");
}

TEST(Passes, GiveANodeInTheirPlaceTheMetadataOfTheLast) {
  Model model = testing::chain({node("Sigmoid", {"X"}, {"s"}), node("Mul", {"X", "s"}, {"Y"})});
  model.opsets[""] = 24;
  model.graph.nodes[1].metadata = about("the last");
  const Model made = optimized(sound(model), {"name-swish", "drop-dead"}).model;
  ASSERT_EQ(made.graph.nodes.size(), 1U);
  EXPECT_EQ(made.graph.nodes[0].op, "Swish");
  EXPECT_EQ(made.graph.nodes[0].metadata, model.graph.nodes[1].metadata);
}

TEST(Passes, RefuseANameThatThereIsNot) {
  PassOptions options;
  options.without = {"fold-constant"};
  try {
    optimize(sum_of_constants(), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_THAT(error.help, ::testing::HasSubstr("fold-constants"));
  }
}

TEST(Passes, KeepTheNamesOfOutputsThatWouldBeConstant) {
  Model model = testing::chain({node("Neg", {"a"}, {"Y"})});
  model.graph.initializers["a"] = tensor({1, 2});
  const Optimized made = optimize(sound(std::move(model)), {});
  ASSERT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(run_on(made.model, {}), std::vector<float>({-1, -2}));
}

TEST(Passes, DoNotGrowTheModelPastItsLimit) {
  Tensor shape = indices({1000});
  const Model model =
      with_constants({node("Expand", {"one", "shape"}, {"c"}), node("Add", {"X", "c"}, {"Y"})},
                     {{"one", tensor({1})}, {"shape", shape}});
  PassOptions options;
  options.growth = 3000;
  EXPECT_EQ(optimize(model, options).model.graph.nodes.size(), 2U);
  options.growth = 4000;
  EXPECT_EQ(optimize(model, options).model.graph.nodes.size(), 1U);
}

TEST(Passes, LeaveAConstantThatTakesTooLongToTheRun) {
  const Model model = sum_of_constants();
  const auto folded = [&](Index steps) {
    PassOptions options;
    options.level = Level::none;
    options.with = {"fold-constants"};
    options.limits.folding_work = steps;
    return changes(optimize(model, options), "fold-constants");
  };
  EXPECT_EQ(folded(100), 1);
  EXPECT_EQ(folded(1), 0);
  // An operation that would take years must not be attempted.
  const Model endless = with_constants(
      {node("MaxPool", {"a"}, {"p"},
            {{"kernel_shape", attribute(std::vector<Index>{1'000'000'000'000})},
             {"pads", attribute(std::vector<Index>{500'000'000'000, 500'000'000'000})}}),
       node("Add", {"X", "p"}, {"Y"})},
      {{"a", tensor({1, 2}).reshaped({1, 1, 2})}});
  PassOptions options;
  options.level = Level::none;
  options.with = {"fold-constants"};
  options.limits.folding_work = 1'000'000;
  EXPECT_EQ(changes(optimize(endless, options), "fold-constants"), 0);
}

TEST(Passes, LeaveADefaultThatACallerMayOverride) {
  Model model = sum_of_constants();
  model.graph.inputs.push_back(testing::value("a", tensor_type(Type::float32)));
  EXPECT_EQ(changes(optimize(sound(model), {}), "fold-constants"), 0);
}

TEST(Passes, TakeDefaultsOfOldFilesForConstants) {
  Model model = sum_of_constants();
  model.ir_version = 3;
  for (const char* name : {"a", "b"})
    model.graph.inputs.push_back(
        testing::value(name, tensor_type(Type::float32), std::vector<Dim>{{Dim{2, ""}}}));
  model = sound(std::move(model));
  const Optimized made = optimize(model, {});
  EXPECT_EQ(changes(made, "freeze-defaults"), 2);
  EXPECT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(made.model.graph.inputs.size(), 1U);
  EXPECT_EQ(made.model.ir_version, 4);
}

TEST(Passes, LeaveWhatANodeThrowsToTheRun) {
  const Model model =
      with_constants({node("Reshape", {"a", "shape"}, {"c"}), node("Add", {"X", "c"}, {"Y"})},
                     {{"a", tensor({1, 2})}, {"shape", indices({3})}});
  PassOptions options;
  options.without = {"drop-identities", "join-moves"};
  EXPECT_EQ(optimize(model, options).model.graph.nodes.size(), 2U);
}

TEST(Passes, LeaveDrawsAlone) {
  const Model model = with_constants(
      {node("RandomUniformLike", {"a"}, {"c"}), node("RandomUniformLike", {"a"}, {"d"}),
       node("Add", {"c", "d"}, {"e"}), node("Add", {"X", "e"}, {"Y"})},
      {{"a", tensor({1, 2})}});
  EXPECT_EQ(optimize(model, {}).model.graph.nodes.size(), 4U);
}

TEST(Passes, DropWhatNobodyNeeds) {
  const Model model = with_constants(
      {node("Neg", {"X"}, {"dead"}), node("Abs", {"dead"}, {"too"}), node("Abs", {"X"}, {"Y"})},
      {{"unused", tensor({1})}});
  const Optimized made = optimized(model, {"drop-dead"});
  EXPECT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_TRUE(made.model.graph.initializers.empty());
  EXPECT_EQ(changes(made, "drop-dead"), 3);
}

TEST(Passes, ShareEqualNodesAndConstants) {
  const Model model =
      with_constants({node("Mul", {"X", "a"}, {"p"}), node("Mul", {"X", "b"}, {"q"}),
                      node("Add", {"p", "q"}, {"Y"})},
                     {{"a", tensor({3})}, {"b", tensor({3})}});
  EXPECT_EQ(optimized(model, {"share-nodes"}).model.graph.nodes.size(), 3U);
  const Optimized made = optimized(model, {"share-nodes", "share-constants"});
  EXPECT_EQ(made.model.graph.nodes.size(), 2U);
  EXPECT_EQ(made.model.graph.initializers.size(), 1U);
  EXPECT_EQ(run_on(made.model, {2}), std::vector<float>({12}));
}

TEST(Passes, TellZerosApartByTheirSign) {
  const Model model =
      with_constants({node("Div", {"X", "a"}, {"p"}), node("Div", {"X", "b"}, {"q"}),
                      node("Max", {"p", "q"}, {"Y"})},
                     {{"a", tensor({0.0F})}, {"b", tensor({-0.0F})}});
  EXPECT_EQ(changes(optimized(model, {"share-constants"}), "share-constants"), 0);
}

TEST(Passes, DoNotShareNodesOfOtherAttributes) {
  const Model model =
      with_constants({node("LeakyRelu", {"X"}, {"p"}, {{"alpha", attribute(0.5F)}}),
                      node("LeakyRelu", {"X"}, {"q"}, {{"alpha", attribute(0.25F)}}),
                      node("Add", {"p", "q"}, {"Y"})},
                     {});
  EXPECT_EQ(optimized(model, {"share-nodes"}).model.graph.nodes.size(), 3U);
}

// f(a, b) = |a| - b, called twice.
Model calling() {
  auto body =
      function("F", {"a", "b"}, {"c"}, {node("Abs", {"a"}, {"t"}), node("Sub", {"t", "b"}, {"c"})});
  Node call = node("F", {"X", "X"}, {"m"});
  Node again = node("F", {"m", "X"}, {"Y"});
  call.domain = again.domain = body->domain;
  Model model = testing::chain({call, again});
  model.functions.push_back(body);
  model.opsets[body->domain] = 1;
  return sound(std::move(model));
}

TEST(Passes, PutBodiesOfFunctionsInPlaceOfCalls) {
  const Model model = calling();
  const Optimized made = optimized(model, {"inline-functions", "drop-dead"});
  EXPECT_EQ(made.model.graph.nodes.size(), 4U);
  EXPECT_TRUE(made.model.functions.empty());
  EXPECT_EQ(run_on(made.model, {-3, 4}), run_on(model, {-3, 4}));
}

// Y = f_n(X), where f_k calls f_(k-1) twice and f_0 is |a|: 2^n nodes.
Model doubling(int levels) {
  Node call = node("F" + std::to_string(levels), {"X"}, {"Y"});
  call.domain = "local";
  Model model = testing::chain({call});
  model.opsets["local"] = 1;
  for (int k = 0; k <= levels; ++k) {
    std::vector<Node> body{node("Abs", {"a"}, {"c"})};
    if (k > 0) {
      const std::string callee = "F" + std::to_string(k - 1);
      body = {node(callee, {"a"}, {"b"}), node(callee, {"b"}, {"c"})};
      for (Node& each : body) each.domain = "local";
    }
    model.functions.push_back(function("F" + std::to_string(k), {"a"}, {"c"}, std::move(body)));
  }
  return sound(std::move(model));
}

TEST(Passes, LeaveCallsThatWouldPassTheLimitOnNodes) {
  PassOptions options;
  options.limits.nodes = 1000;
  const Model model = doubling(9);
  // 512 nodes fit the limit: all calls are inlined
  EXPECT_EQ(optimize(model, options).model.functions.size(), 0U);
  for (const int levels : {10, 28}) {
    const Optimized made = optimize(doubling(levels), options);
    EXPECT_EQ(made.model.graph.nodes.size(), 1U) << levels;
    EXPECT_EQ(changes(made, "inline-functions"), 0) << levels;
  }
  EXPECT_EQ(run_on(optimize(doubling(10), options).model, {-3}), std::vector<float>({3}));
}

TEST(Passes, OpenManyCallsOfOneFunction) {
  auto body = function("F", {"a"}, {"c"}, {node("Exp", {"a"}, {"t"}), node("Neg", {"t"}, {"c"})});
  constexpr std::size_t many = 20'000;
  std::vector<Node> calls;
  for (std::size_t k = 0; k < many; ++k) {
    const auto value = [](std::size_t at) { return "v" + std::to_string(at); };
    calls.push_back(node("F", {k == 0 ? "X" : value(k)}, {k + 1 == many ? "Y" : value(k + 1)}));
    calls.back().domain = body->domain;
  }
  Model model = testing::chain(std::move(calls));
  model.functions.push_back(body);
  model.opsets[body->domain] = 1;
  const Optimized made = optimized(sound(std::move(model)), {"inline-functions"});
  EXPECT_EQ(made.model.graph.nodes.size(), 2 * many);
}

// Y = the sum of the outputs of many nodes that read X.
Model fan(const std::function<Node(const std::string& output, std::size_t k)>& make) {
  constexpr std::size_t many = 20'000;
  std::vector<Node> nodes;
  std::vector<std::string> made;
  for (std::size_t k = 0; k < many; ++k) {
    made.push_back("v" + std::to_string(k));
    nodes.push_back(make(made.back(), k));
  }
  nodes.push_back(node("Sum", made, {"Y"}));
  return sound(testing::chain(std::move(nodes)));
}

TEST(Passes, CompareManyNodesOfOneInputByTheirAttributes) {
  const Model model = fan([](const std::string& output, std::size_t k) {
    return node("LeakyRelu", {"X"}, {output}, {{"alpha", attribute(static_cast<float>(k / 2))}});
  });
  EXPECT_EQ(changes(optimized(model, {"share-nodes"}), "share-nodes"), 10'000);
}

TEST(Passes, DropManyIdentitiesThatOneNodeReads) {
  const Model model =
      fan([](const std::string& output, std::size_t) { return node("Identity", {"X"}, {output}); });
  const Optimized made = optimized(model, {"drop-identities"});
  ASSERT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(made.model.graph.nodes[0].inputs, std::vector<std::string>(20'000, "X"));
}

TEST(Passes, LeaveACallOfAFunctionForAnotherOpset) {
  Model model = calling();
  model.functions[0]->opsets[""] = 6;
  EXPECT_EQ(changes(optimized(sound(model), {"inline-functions"}), "inline-functions"), 0);
}

// Y = if X[0] > 0 then |inner| else inner, where inner = Identity(Neg(X)) is captured.
Model capturing() {
  const auto branch = [](const std::string& op, const std::string& out) {
    Graph made = graph({node(op, {"inner"}, {out})}, {}, {floats(out)});
    return testing::graph_attribute(std::move(made));
  };
  Model model = testing::chain(
      {node("Neg", {"X"}, {"negative"}), node("Identity", {"negative"}, {"inner"}),
       node("If", {"flag"}, {"Y"},
            {{"then_branch", branch("Abs", "yes")}, {"else_branch", branch("Neg", "no")}})});
  Tensor flag(Type::boolean, {});
  flag.data<bool>()[0] = true;
  model.graph.initializers["flag"] = flag;
  return sound(std::move(model));
}

TEST(Passes, KeepWhatASubgraphCaptures) {
  const Model model = capturing();
  const Optimized made = optimize(model, {});
  EXPECT_EQ(run_on(made.model, {2, -3}), std::vector<float>({2, 3}));
}

TEST(Passes, NameEveryPatternsPass) {
  for (const Pattern& pattern : all_patterns()) {
    const auto passes = all_passes();
    const auto found = std::find_if(passes.begin(), passes.end(),
                                    [&](const Pass& pass) { return pass.name == pattern.pass; });
    ASSERT_NE(found, passes.end()) << pattern.name;
    EXPECT_GE(pattern.level, found->level) << pattern.name;
    EXPECT_TRUE(pattern.exact || !found->exact) << pattern.name;
  }
}

}  // namespace
}  // namespace touchstone::transform
