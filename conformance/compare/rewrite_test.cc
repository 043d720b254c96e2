// Tapped models give the outputs of the model and more; a part of a model runs alone.
#include "conformance/compare/rewrite.h"

#include <gtest/gtest.h>

#include "conformance/compare/testing.h"
#include "core/error.h"
#include "reference/interpreter.h"

namespace touchstone::compare {
namespace {

using testing::chain;
using testing::floats;
using testing::node;
using Values = std::map<std::string, Value>;
using Names = std::vector<std::string>;

// y = relu(x + w) * (x + w)
Model sum_and_product() {
  Model model =
      chain({node("Add", {"x", "w"}, "a"), node("Relu", {"a"}, "b"), node("Mul", {"a", "b"}, "y")});
  model.graph.initializers["w"] = floats({1});
  return model;
}

float first(const Value& value) { return value.tensor().data<float>()[0]; }

TEST(Rewrite, TapsAreOutputsBehindTheModelsOwn) {
  const Model model = sum_and_product();
  EXPECT_EQ(hidden_values(model), (Names{"a", "b"}));
  const Model tapped = with_taps(model, {"a", "b"}, types_of_values(model));
  ASSERT_EQ(tapped.graph.outputs.size(), 3u);
  EXPECT_EQ(tapped.graph.outputs[0].name, "y");
  EXPECT_EQ(tapped.graph.outputs[1].name, "a");
  ASSERT_TRUE(tapped.graph.outputs[2].type);
  EXPECT_EQ(text(*tapped.graph.outputs[2].type), "tensor(float)");
  const Values seen = run(tapped, {{"x", floats({2, 3})}});
  EXPECT_EQ(first(seen.at("a")), 3);
  EXPECT_EQ(first(seen.at("b")), 3);
  EXPECT_EQ(first(seen.at("y")), 9);
  EXPECT_EQ(hidden_values(tapped), Names{});
}

TEST(Rewrite, ATapOfUnknownTypeHasNone) {
  const Model tapped = with_taps(sum_and_product(), {"a"}, {});
  EXPECT_FALSE(tapped.graph.outputs[1].type);
}

TEST(Rewrite, ANodeIsNamedInThreeWays) {
  const Model model = sum_and_product();
  EXPECT_EQ(taps_around(model, {"make_b"}), (Names{"a", "b"}));
  EXPECT_EQ(taps_around(model, {"a"}), Names{"a"});
  EXPECT_EQ(taps_around(model, {"#2"}), (Names{"a", "b"}));
  EXPECT_EQ(taps_around(model, {"#0", "make_b"}), (Names{"a", "b"}));
  EXPECT_THROW(taps_around(model, {"w"}), Error);
  EXPECT_THROW(taps_around(model, {"#3"}), Error);
  EXPECT_THROW(taps_around(model, {""}), Error);
}

TEST(Rewrite, APartHasTheValuesAroundItAsInputsAndOutputs) {
  const Model model = sum_and_product();
  const Values seen{{"x", floats({2})}, {"a", floats({3})}, {"y", floats({9})}};
  Model part = cut_out(model, {1, 2}, seen);
  ASSERT_EQ(part.graph.inputs.size(), 1u);
  EXPECT_EQ(part.graph.inputs[0].name, "a");
  ASSERT_TRUE(part.graph.inputs[0].shape);
  EXPECT_EQ((*part.graph.inputs[0].shape)[0].size, 1);
  ASSERT_EQ(part.graph.outputs.size(), 1u);  // no value of b was observed
  EXPECT_EQ(part.graph.outputs[0].name, "y");
  resolve(part);
  EXPECT_EQ(first(run(part, {{"a", floats({3})}}).at("y")), 9);
}

TEST(Rewrite, InitializersOfAPartStayUnlessTheyWereFed) {
  Model model = sum_and_product();
  const Values seen{{"x", floats({2})}, {"a", floats({3})}};
  Model part = cut_out(model, {0}, seen);
  EXPECT_EQ(part.graph.inputs.size(), 1u);
  EXPECT_TRUE(part.graph.initializers.contains("w"));
  Values fed = seen;
  fed["w"] = floats({5});
  part = cut_out(model, {0}, fed);
  EXPECT_EQ(part.graph.inputs.size(), 2u);
  EXPECT_FALSE(part.graph.initializers.contains("w"));
  model.ir_version = 3;  // then an initializer is an input too, after those to be fed
  part = cut_out(model, {0}, seen);
  ASSERT_EQ(part.graph.inputs.size(), 2u);
  EXPECT_EQ(part.graph.inputs[1].name, "w");
}

TEST(Rewrite, AnOutputThatWasNotGivenIsKept) {
  const Model part = cut_out(sum_and_product(), {1}, {{"a", floats({3})}, {"b", Value{}}});
  ASSERT_EQ(part.graph.outputs.size(), 1u);
  EXPECT_FALSE(part.graph.outputs[0].type);
  EXPECT_THROW(cut_out(sum_and_product(), {1}, {}), Error);
}

TEST(Rewrite, WhatABodyReadsFromAroundItIsTappedAndFed) {
  Graph branch;
  branch.name = "branch";
  branch.nodes = {node("Neg", {"a"}, "inside")};
  branch.outputs = {{"inside", tensor_type(Type::float32), {}}};
  const auto body = std::make_shared<const Graph>(branch);
  Node choice = node("If", {"flag"}, "y");
  choice.attributes["then_branch"].is = body;
  choice.attributes["else_branch"].is = body;
  Model model = chain({node("Abs", {"x"}, "a"), choice});
  model.graph.inputs.push_back({"flag", tensor_type(Type::boolean), std::vector<Dim>{}});
  EXPECT_EQ(taps_around(model, {"y"}), Names{"a"});
  const Model part = cut_out(
      model, {1}, {{"flag", Tensor(Type::boolean, {})}, {"a", floats({1})}, {"y", floats({-1})}});
  EXPECT_EQ(part.graph.inputs.size(), 2u);
}

}  // namespace
}  // namespace touchstone::compare
