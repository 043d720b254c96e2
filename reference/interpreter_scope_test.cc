// Subgraphs and functions: visible names, number of runs, path names, and depth.
#include "reference/testing.h"

namespace touchstone::testing {
namespace {

using Floats = std::vector<float>;

Graph branch(std::vector<Node> nodes, const std::string& output) {
  return graph(std::move(nodes), {}, {floats(output)});
}

Model choosing(Graph then_branch, Graph else_branch) {
  return model(graph(
      {node("Neg", {"X"}, {"a"}), node("If", {"B"}, {"Y"},
                                       {{"then_branch", graph_attribute(std::move(then_branch))},
                                        {"else_branch", graph_attribute(std::move(else_branch))}})},
      {floats("X"), value("B", tensor_type(Type::boolean))}, {floats("Y")}));
}

Model repeating(Graph body) {
  return model(
      graph({node("Loop", {"N", "", "X"}, {"Y"}, {{"body", graph_attribute(std::move(body))}})},
            {floats("X"), value("N", tensor_type(Type::int64))}, {floats("Y")}));
}

Graph adding_body() {
  return graph(
      {node("Add", {"v", "X"}, {"w"}), node("Identity", {"c"}, {"d"})},
      {value("i", tensor_type(Type::int64)), value("c", tensor_type(Type::boolean)), floats("v")},
      {value("d", tensor_type(Type::boolean)), floats("w")});
}

struct Seen {
  std::vector<std::string> paths;
  RunOptions options;

  Seen() {
    options.tap = [this](const Call& call, const std::string& path) {
      paths.push_back(path + ":" + call.node->op);
    };
  }
};

TEST(Scope, ABranchSeesValuesAroundItAndHasItsOwn) {
  const Graph then_branch =
      branch({node("Neg", {"a"}, {"b"}), node("Add", {"b", "X"}, {"out"})}, "out");
  Graph else_branch = branch({node("Add", {"a", "k"}, {"out"})}, "out");
  else_branch.initializers.emplace("k", tensor({100}));
  Model made = choosing(then_branch, else_branch);
  resolve(made);
  Seen seen;
  EXPECT_EQ(held(run(made, {{"X", tensor({3})}, {"B", scalar(true)}}, seen.options).at("Y")),
            Floats{6});
  EXPECT_EQ(seen.paths, (std::vector<std::string>{":Neg", "If_1/then_branch:Neg",
                                                  "If_1/then_branch:Add", ":If"}));
  EXPECT_EQ(held(run(made, {{"X", tensor({3})}, {"B", scalar(false)}}).at("Y")), Floats{97});
}

TEST(Scope, ErrorsInsideNameTheirGraph) {
  Graph wrong = branch({node("Add", {"a", "k"}, {"out"})}, "out");
  wrong.initializers.emplace("k", tensor({1, 2}));
  Model made = choosing(wrong, wrong);
  resolve(made);
  try {
    run(made, {{"X", tensor({3})}, {"B", scalar(true)}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place, "node #0 (Add), output 'out', graph If_1/then_branch");
  }
}

TEST(Scope, ABodyRunsOncePerIteration) {
  Model made = repeating(adding_body());
  resolve(made);
  Seen seen;
  EXPECT_EQ(held(run(made, {{"X", tensor({2})}, {"N", scalar(Index{3})}}, seen.options).at("Y")),
            Floats{8});
  ASSERT_EQ(seen.paths.size(), 7u);
  EXPECT_EQ(seen.paths[0], "Loop_0/body#0:Add");
  EXPECT_EQ(seen.paths[4], "Loop_0/body#2:Add");
}

TEST(Scope, IterationsHaveALimit) {
  Model made = repeating(adding_body());
  resolve(made);
  RunOptions options;
  options.limits.loop_iterations = 3;
  EXPECT_NO_THROW(run(made, {{"X", tensor({2})}, {"N", scalar(Index{3})}}, options));
  try {
    run(made, {{"X", tensor({2})}, {"N", scalar(Index{4})}}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "limit/loop_iterations");
  }
}

TEST(Scope, ABodyIsGivenAsManyValuesAsItTakes) {
  Graph body = adding_body();
  body.inputs.pop_back();
  Model made = repeating(body);
  resolve(made);
  const Error error = thrown("model/input-count", [&] {
    run(made, {{"X", tensor({2})}, {"N", scalar(Index{1})}});
  });
  EXPECT_STREQ(error.what(), "the graph has 2 inputs, but is given 3");
}

TEST(Scope, UnsupportedOperatorsAreFoundInsideWhateverBranchRuns) {
  Model made = choosing(branch({node("Neg", {"a"}, {"out"})}, "out"),
                        branch({node("Tanh", {"a"}, {"out"})}, "out"));
  resolve(made);
  EXPECT_STREQ(thrown("",
                      [&] {
                        run(made, {{"X", tensor({3})}, {"B", scalar(true)}});
                      })
                   .what(),
               "unsupported: Tanh-13 (1 node)");
}

Model calling(std::vector<std::shared_ptr<Function>> functions,
              std::map<std::string, Attribute> attributes = {}) {
  Model made = chain({node(functions.front()->name, {"X"}, {"Y"}, std::move(attributes))});
  made.graph.nodes[0].domain = "local";
  made.opsets["local"] = 1;
  made.functions = std::move(functions);
  return made;
}

Node call(const std::string& name, const std::string& input, const std::string& output) {
  Node made = node(name, {input}, {output});
  made.domain = "local";
  return made;
}

TEST(Functions, SeeOnlyTheirInputs) {
  Seen seen;
  const Model made = calling(
      {function("F", {"x"}, {"y"}, {node("Neg", {"x"}, {"n"}), node("Relu", {"n"}, {"y"})})});
  EXPECT_EQ(held(run_floats(made, {-4}, seen.options).at("Y")), Floats{4});
  EXPECT_EQ(seen.paths, (std::vector<std::string>{"F_0:Neg", "F_0:Relu", ":F"}));
  const Model undefined = calling({function("F", {"x"}, {"y"}, {node("Add", {"x", "X"}, {"y"})})});
  thrown("model/undefined-name", [&] { run_floats(undefined, {1}); });
}

TEST(Functions, CallOthers) {
  const Model made =
      calling({function("F", {"x"}, {"y"}, {call("G", "x", "g"), call("G", "g", "y")}),
               function("G", {"x"}, {"y"}, {node("Add", {"x", "x"}, {"y"})})});
  EXPECT_EQ(held(run_floats(made, {1}).at("Y")), Floats{4});
}

std::shared_ptr<Function> adding() {
  return function("F", {"x"}, {"y"},
                  {node("Concat", {"x"}, {"y"}, {{"axis", reference(Index{}, "by")}})});
}

TEST(Functions, ReferencesStandForTheCallersAttributes) {
  auto required = adding();
  required->attributes = {"by"};
  EXPECT_EQ(held(run_floats(calling({required}, {{"by", attribute(Index{7})}}), {1}).at("Y")),
            Floats{8});
  auto optional = adding();
  optional->default_attributes.emplace("by", attribute(Index{3}));
  EXPECT_EQ(held(run_floats(calling({optional}), {1}).at("Y")), Floats{4});
  EXPECT_EQ(held(run_floats(calling({optional}, {{"by", attribute(Index{5})}}), {1}).at("Y")),
            Floats{6});
}

TEST(Functions, AReferenceStandsForAnAttributeOfItsKind) {
  auto required = adding();
  required->attributes = {"by"};
  thrown("model/attribute-kind", [&] {
    run_floats(calling({required}, {{"by", attribute(7.0F)}}), {1});
  });
}

TEST(Functions, ReferencesReachThroughCallsAndSubgraphs) {
  Node inner_call = call("G", "x", "out");
  inner_call.attributes.emplace("by", reference(Index{}, "outer"));
  const Graph body = branch({inner_call}, "out");
  auto outer = function(
      "F", {"x", "b"}, {"y"},
      {node("If", {"b"}, {"y"},
            {{"then_branch", graph_attribute(body)}, {"else_branch", graph_attribute(body)}})});
  outer->attributes = {"outer"};
  auto inner = adding();
  inner->name = "G";
  inner->attributes = {"by"};
  Model made = calling({outer, inner}, {{"outer", attribute(Index{9})}});
  made.graph.nodes[0].inputs.push_back("B");
  made.graph.inputs.push_back(value("B", tensor_type(Type::boolean)));
  resolve(made);
  Seen seen;
  EXPECT_EQ(held(run(made, {{"X", tensor({1})}, {"B", scalar(true)}}, seen.options).at("Y")),
            Floats{10});
  EXPECT_EQ(seen.paths.front(), "F_0/If_0/then_branch/G_0:Concat");
}

TEST(Functions, InputsThatTheCallerLeavesOutAreLeftOutInside) {
  auto needs_both = function("F", {"x", "z"}, {"y"}, {node("Add", {"x", "z"}, {"y"})});
  thrown("model/input-missing", [&] { run_floats(calling({needs_both}), {1}); });
}

TEST(Functions, GraphsAreNoAttributesOfFunctions) {
  auto taking = adding();
  taking->attributes = {"by"};
  const Graph body = branch({node("Neg", {"X"}, {"out"})}, "out");
  const Error error = thrown("", [&] {
    run_floats(calling({taking}, {{"by", graph_attribute(body)}}), {1});
  });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
}

TEST(Functions, CallsHaveALimitInDepth) {
  const auto nested = [](int depth) {
    std::vector<std::shared_ptr<Function>> functions;
    for (int k = 1; k < depth; ++k) {
      functions.push_back(function("F" + std::to_string(k), {"x"}, {"y"},
                                   {call("F" + std::to_string(k + 1), "x", "y")}));
    }
    functions.push_back(
        function("F" + std::to_string(depth), {"x"}, {"y"}, {node("Neg", {"x"}, {"y"})}));
    return calling(functions);
  };
  RunOptions options;
  options.limits.graph_depth = 4;
  EXPECT_EQ(held(run_floats(nested(3), {1}, options).at("Y")), Floats{-1});
  try {
    run_floats(nested(4), {1}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule, "limit/graph_depth");
  }
}

}  // namespace
}  // namespace touchstone::testing
