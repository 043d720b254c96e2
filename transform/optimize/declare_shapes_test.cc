// Tests of declarations of inferred shapes.
#include "transform/optimize/declare_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reference/shapes/shapes.h"
#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::attribute;
using testing::floats;
using testing::graph;
using testing::graph_attribute;
using testing::model;
using testing::node;
using testing::value;

ValueInfo shaped(const std::string& name, std::vector<Dim> dims, Type type = Type::float32) {
  return value(name, tensor_type(type), std::move(dims));
}

ValueInfo bare(const std::string& name) {
  return {.name = name, .type = tensor_type(Type::float32), .shape = std::nullopt};
}

std::string declared(const std::vector<ValueInfo>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const ValueInfo& each) { return each.name == name; });
  if (found == list.end()) return "none";
  if (!found->shape) return "no shape";
  std::string text;
  for (const Dim& dim : *found->shape)
    text += (text.empty() ? "" : ",") + (dim.size             ? std::to_string(*dim.size)
                                         : dim.symbol.empty() ? "?"
                                                              : dim.symbol);
  return "[" + text + "]";
}

Model valid(Model made) {
  resolve(made);
  for (const Error& error : check(made, {})) ADD_FAILURE() << error.what();
  return made;
}

Node twice(const std::string& from, const std::string& to) {
  return node("Concat", {from, from}, {to}, {{"axis", attribute(Index{0})}});
}

TEST(DeclareShapes, ComputedValuesGetNumbersAndExpressions) {
  Model made = valid(model(graph({twice("x", "double"), node("Relu", {"double"}, {"y"})},
                                 {shaped("x", {{{}, "N"}, {3, ""}, {{}, ""}})}, {bare("y")})));
  const DeclaredSizes counts = declare_shapes(made, {});
  EXPECT_EQ(declared(made.graph.inputs, "x"), "[N,3,unk_1]");
  EXPECT_EQ(declared(made.graph.values, "double"), "[2*N,3,unk_1]");
  EXPECT_EQ(declared(made.graph.outputs, "y"), "[2*N,3,unk_1]");
  EXPECT_EQ(declared(made.graph.values, "y"), "none");
  EXPECT_EQ(counts.values, 2);
  EXPECT_EQ(counts.numbers, 2);
  EXPECT_EQ(counts.expressions, 4);
  EXPECT_EQ(counts.unknown, 0);
  EXPECT_TRUE(check(made, {}).empty());
}

TEST(DeclareShapes, WhatIsDeclaredStays) {
  Model made = valid(model(graph({twice("x", "double"), node("Relu", {"double"}, {"y"})},
                                 {shaped("x", {{{}, "unk_N"}, {{}, ""}})},
                                 {shaped("y", {{{}, "rows"}, {{}, "", "FEATURES"}})})));
  declare_shapes(made, {});
  EXPECT_EQ(declared(made.graph.inputs, "x"), "[unk_N,unk__1]");
  EXPECT_EQ(declared(made.graph.outputs, "y"), "[rows,unk__1]");
  EXPECT_EQ(made.graph.outputs[0].shape->at(1).denotation, "FEATURES");
}

TEST(DeclareShapes, UnknownShapesStayOpen) {
  Model made = valid(
      model(graph({node("NonZero", {"x"}, {"found"})}, {shaped("x", {{{}, "N"}, {3, ""}})},
                  {{.name = "found", .type = tensor_type(Type::int64), .shape = std::nullopt}})));
  const DeclaredSizes counts = declare_shapes(made, {});
  EXPECT_EQ(declared(made.graph.outputs, "found"), "no shape");
  EXPECT_EQ(counts.values, 0);
}

// Broadcasting holds for N equal to M, but for a size of 1 as well: neither is declared.
TEST(DeclareShapes, AssumedSizesStayOpen) {
  Model made = valid(
      model(graph({node("Add", {"a", "b"}, {"sum"}), node("Neg", {"c"}, {"other"}),
                   node("Concat", {"other", "other"}, {"twice"}, {{"axis", attribute(Index{0})}}),
                   node("MatMul", {"sum", "d"}, {"y"})},
                  {shaped("a", {{{}, "N"}, {2, ""}}), shaped("b", {{{}, ""}, {2, ""}}),
                   shaped("c", {{{}, "K"}}), shaped("d", {{2, ""}, {{}, "K"}})},
                  {bare("y"), bare("twice")})));
  ASSERT_FALSE(infer_shapes(made, {}).notes.empty());
  const DeclaredSizes counts = declare_shapes(made, {});
  EXPECT_EQ(declared(made.graph.inputs, "b"), "[?,2]");
  EXPECT_EQ(declared(made.graph.values, "sum"), "[?,2]");
  EXPECT_EQ(declared(made.graph.outputs, "y"), "[?,K]");
  EXPECT_EQ(declared(made.graph.outputs, "twice"), "[2*K]");
  EXPECT_EQ(counts.unknown, 2);
}

// Squeeze without axes removes M only if it is 1, as the matrix of Gemm requires.
TEST(DeclareShapes, AnAssumedRankIsNotDeclared) {
  Model made = valid(model(graph(
      {node("Squeeze", {"x"}, {"matrix"}), node("Gemm", {"matrix", "w"}, {"y"})},
      {shaped("x", {{{}, "M"}, {3, ""}, {4, ""}}), shaped("w", {{4, ""}, {5, ""}})}, {bare("y")})));
  ASSERT_FALSE(infer_shapes(made, {}).notes.empty());
  declare_shapes(made, {});
  EXPECT_EQ(declared(made.graph.values, "matrix"), "no shape");
  EXPECT_EQ(declared(made.graph.outputs, "y"), "no shape");
}

TEST(DeclareShapes, BranchesAreDeclaredToo) {
  const auto branch = [&](std::vector<Node> nodes) {
    return graph_attribute(graph(std::move(nodes), {}, {bare("out")}));
  };
  const Attribute before = branch({twice("x", "in"), node("Neg", {"in"}, {"out"})});
  Model made = valid(
      model(graph({node("If", {"flag"}, {"y"},
                        {{"then_branch", before}, {"else_branch", branch({twice("x", "out")})}})},
                  {shaped("x", {{{}, "N"}}), shaped("flag", {}, Type::boolean)}, {bare("y")})));
  declare_shapes(made, {});
  const auto& inner =
      *std::get<std::shared_ptr<const Graph>>(made.graph.nodes[0].attributes.at("then_branch").is);
  EXPECT_EQ(declared(inner.values, "in"), "[2*N]");
  EXPECT_EQ(declared(inner.outputs, "out"), "[2*N]");
  const auto& kept = *std::get<std::shared_ptr<const Graph>>(before.is);
  EXPECT_TRUE(kept.values.empty());  // other models may share the branch
}

}  // namespace
}  // namespace touchstone::transform
