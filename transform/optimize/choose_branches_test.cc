// Tests that a node of two graphs becomes the one that it always runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::floats;
using testing::graph;
using testing::graph_attribute;
using testing::node;
using testing::tensor;

Tensor condition(bool holds) {
  Tensor made(Type::boolean, {});
  made.data<bool>()[0] = holds;
  return made;
}

// Nodes from `values` to `out`, and constants.
Attribute branch(std::vector<Node> nodes, std::vector<std::string> outputs,
                 std::map<std::string, Tensor> constants = {}) {
  std::vector<ValueInfo> infos;
  for (std::string& output : outputs) infos.push_back(floats(std::move(output)));
  Graph made = graph(std::move(nodes), {}, std::move(infos));
  made.initializers = std::move(constants);
  return graph_attribute(std::move(made));
}

Node choice(std::vector<std::string> outputs, Attribute yes, Attribute no) {
  return node("If", {"flag"}, std::move(outputs),
              {{"then_branch", std::move(yes)}, {"else_branch", std::move(no)}});
}

// Requires that the node becomes its branch's nodes, with the same results.
Optimized chosen(const Model& model, Index times = 1) {
  Optimized made = optimized(model, {"choose-branches"});
  EXPECT_EQ(changes(made, "choose-branches"), times);
  EXPECT_EQ(run_on(made.model, {2, -3}), run_on(model, {2, -3}));
  return made;
}

// Both branches and the main graph use the same names.
TEST(ChooseBranches, NamesAreMadeUnique) {
  for (const bool which : {true, false}) {
    const auto of = [](const std::string& op) {
      return branch({node(op, {"inner"}, {"t"}), node("Add", {"t", "w"}, {"u"})}, {"u"},
                    {{"w", tensor({1, 2})}});
    };
    Model model =
        with_constants({node("Neg", {"X"}, {"inner"}), choice({"a"}, of("Abs"), of("Neg")),
                        choice({"b"}, of("Exp"), of("Abs")), node("Sub", {"a", "b"}, {"Y"})},
                       {{"flag", condition(which)}});
    EXPECT_EQ(chosen(model, 2).model.graph.nodes.size(), 6U);
  }
}

TEST(ChooseBranches, ChoicesInABranch) {
  Attribute outer =
      branch({node("Exp", {"X"}, {"t"}), choice({"u"}, branch({node("Abs", {"t"}, {"v"})}, {"v"}),
                                                branch({node("Neg", {"t"}, {"v"})}, {"v"}))},
             {"u"});
  const Model model =
      with_constants({choice({"Y"}, std::move(outer), branch({node("Neg", {"X"}, {"n"})}, {"n"}))},
                     {{"flag", condition(true)}});
  EXPECT_EQ(chosen(model, 2).model.graph.nodes.size(), 2U);
}

// Outputs that are constants, or listed twice.
TEST(ChooseBranches, OutputsThatNoNodeOfTheBranchMakes) {
  const auto of = [] {
    return branch({node("Abs", {"inner"}, {"t"})}, {"w", "t", "t"}, {{"w", tensor({5, 6})}});
  };
  Model model = with_constants({node("Neg", {"X"}, {"inner"}), choice({"a", "b", "c"}, of(), of()),
                                node("Sum", {"a", "b", "c"}, {"Y"})},
                               {{"flag", condition(true)}});
  EXPECT_EQ(chosen(model).model.graph.nodes.size(), 3U);
}

// A constant cannot take the name of a graph output, or that of a captured value while it is one.
TEST(ChooseBranches, StaysWhereANameCannotChange) {
  const auto of = [] { return branch({}, {"w"}, {{"w", tensor({5, 6})}}); };
  chosen(with_constants({choice({"Y"}, of(), of())}, {{"flag", condition(true)}}), 0);
  const auto reads = [] { return branch({node("Abs", {"a"}, {"t"})}, {"t"}); };
  chosen(with_constants({choice({"a"}, of(), of()), choice({"Y"}, reads(), reads())},
                        {{"flag", condition(true)}}),
         2);
}

TEST(ChooseBranches, ADefaultIsNoConstant) {
  Model model = testing::chain({choice({"Y"}, branch({node("Abs", {"X"}, {"t"})}, {"t"}),
                                       branch({node("Neg", {"X"}, {"t"})}, {"t"}))});
  model.graph.initializers["flag"] = condition(true);
  model.graph.inputs.push_back(
      testing::value("flag", tensor_type(Type::boolean), std::vector<Dim>{}));
  EXPECT_EQ(changes(optimize(sound(model)), "choose-branches"), 0);
}

// Y = X without its last dimension if that is 1, else X: as exporters write it.
Model squeezing(std::vector<Dim> dims) {
  Model model =
      with_constants({node("Shape", {"X"}, {"shape"}), node("Gather", {"shape", "last"}, {"size"}),
                      node("Equal", {"size", "one"}, {"flag"}),
                      choice({"Y"}, branch({node("Squeeze", {"X", "axes"}, {"t"})}, {"t"}),
                             branch({node("Identity", {"X"}, {"t"})}, {"t"}))},
                     {{"last", indices({-1})}, {"one", indices({1})}, {"axes", indices({-1})}});
  model.graph.inputs[0].shape = std::move(dims);
  return sound(std::move(model));
}

TEST(ChooseBranches, WhatADeclaredSizeDetermines) {
  for (const Index size : {1, 3}) {
    const Optimized made = optimize(squeezing({Dim{{}, "N"}, Dim{size, ""}}),
                                    {.level = Level::none, .with = {"choose-branches"}});
    ASSERT_EQ(changes(made, "choose-branches"), 1) << size;
    EXPECT_EQ(made.model.graph.nodes.back().op, size == 1 ? "Squeeze" : "Identity");
    EXPECT_TRUE(made.assumed.empty());
  }
  EXPECT_EQ(changes(optimize(squeezing({Dim{{}, "N"}, Dim{{}, "M"}})), "choose-branches"), 0);
}

TEST(ChooseBranches, WhatFedSizesDetermineIsAnAssumption) {
  PassOptions options;
  options.checked = true;
  options.fed = {{{"X", Shape{4, 1}}}};
  const Model model = squeezing({Dim{{}, "N"}, Dim{{}, "M"}});
  const Optimized made = optimize(model, options);
  ASSERT_EQ(changes(made, "choose-branches"), 1);
  const auto all_hold = [&](const Shape& shape) {
    return std::all_of(made.assumed.begin(), made.assumed.end(), [&](const Assumed& assumed) {
      ShapeProver prover(assumed.model, {});
      return hold(assumed, prover, {{"X", shape}});
    });
  };
  EXPECT_TRUE(all_hold({4, 1}));
  EXPECT_TRUE(all_hold({7, 1}));
  EXPECT_FALSE(all_hold({4, 3}));
  EXPECT_FALSE(all_hold({}));
  options.fed.push_back({{"X", Shape{4, 3}}});
  EXPECT_EQ(changes(optimize(model, options), "choose-branches"), 0);
}

}  // namespace
}  // namespace touchstone::transform
