// Tests the shapes that an graph derives, and the preconditions of steps.
#include "optimized/plan/analyzed_graph.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "optimized/plan/plan.h"
#include "optimized/plan/preconditions.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

Model matmul(const Shape& a, const Shape& b, const Shape& declared) {
  Model model = one_node("MatMul", {"a", "b"}, declared);
  model.graph.inputs = {info("a", a)};
  model.graph.initializers.emplace("b", whole(b, 1));
  resolve(model);
  return model;
}

TEST(AnalyzedGraph, DeclaredShapesAreNotBelieved) {
  const Model model = matmul({512, 64}, {2, 512}, {1, 1});
  const AnalyzedGraph graph(model, {{"a", Shape{512, 64}}}, {});
  EXPECT_FALSE(graph.value(graph.find("y")).shape.has_value());
  EXPECT_TRUE(graph.node(0).broken);
  const std::vector<Group> groups = group_nodes(graph, true);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].kind, GroupKind::reference);
}

TEST(AnalyzedGraph, DefinitionsProveShapesForWhatIsFed) {
  const Model model = matmul({8, 64}, {64, 32}, {1, 1});
  const AnalyzedGraph graph(model, {{"a", Shape{8, 64}}}, {});
  EXPECT_EQ(graph.value(graph.find("y")).shape, (Shape{8, 32}));
  EXPECT_FALSE(graph.node(0).broken);
}

TEST(AnalyzedGraph, AReshapeByWhatIsFedHasNoShape) {
  Model model = one_node("Reshape", {"x", "s"}, {4096});
  ValueInfo s = info("s", {1});
  s.type = tensor_type(Type::int64);
  model.graph.inputs = {info("x", {4}), s};
  resolve(model);
  const AnalyzedGraph graph(model, {{"x", Shape{4}}, {"s", Shape{1}}}, {});
  EXPECT_FALSE(graph.value(graph.find("y")).shape.has_value());
}

// Large results come from a plan of their own, which must not fold the same node again.
TEST(AnalyzedGraph, LargeResultsAreFoldedByAPlanThatDoesNotFold) {
  Model model = one_node("Tile", {"x", "repeats"}, {1024, 1024});
  model.graph.initializers.emplace("x", whole({1, 1024}, 1));
  Tensor repeats(Type::int64, {2});
  repeats.data<std::int64_t>()[0] = 1024;
  repeats.data<std::int64_t>()[1] = 1;
  model.graph.initializers.emplace("repeats", repeats);
  resolve(model);
  const AnalyzedGraph graph(model, {}, {});
  ASSERT_TRUE(graph.node(0).folded);
  const Tensor& made = *graph.value(graph.find("y")).constant;
  EXPECT_EQ(made.shape(), (Shape{1024, 1024}));
  const Tensor& row = model.graph.initializers.at("x");
  for (Index k = 0; k < made.size(); ++k)
    ASSERT_EQ(made.data<float>()[k], row.data<float>()[k % 1024]);
  EXPECT_FALSE(AnalyzedGraph(model, {}, {.folds = false}).node(0).folded);
}

// A group with a planner's fault must be refused before a step is built from it.
TEST(Preconditions, AMatmulHasColumnsForItsOutput) {
  const Model model = matmul({8, 64}, {64, 32}, {8, 32});
  const AnalyzedGraph graph(model, {{"a", Shape{8, 64}}}, {});
  Group group = group_nodes(graph, true).at(0);
  ASSERT_EQ(group.kind, GroupKind::matmul);
  EXPECT_NO_THROW(hold_preconditions(graph, group));
  group.made = graph.find("a");
  EXPECT_THROW(hold_preconditions(graph, group), Error);
}

TEST(Preconditions, AWindowHasTheExtentsOfItsImages) {
  Net net({1, 16, 8, 8});
  const std::string y = net.convolution("x", {16, 16, 3, 3}, {{"pads", {1, 1, 1, 1}}});
  net.output(y);
  const Model model = net.model();
  const AnalyzedGraph graph(model, {{"x", Shape{1, 16, 8, 8}}}, {});
  const Group group = group_nodes(graph, true).at(0);
  ASSERT_EQ(group.kind, GroupKind::convolution);
  EXPECT_NO_THROW(hold_preconditions(graph, group));
  Group wide = group;
  wide.window.out[1] += 1;
  EXPECT_THROW(hold_preconditions(graph, wide), Error);
  Group tall = group;
  tall.window.in[0] += 1;
  EXPECT_THROW(hold_preconditions(graph, tall), Error);
  Group large = group;
  large.window.kernel[0] = 5;
  EXPECT_THROW(hold_preconditions(graph, large), Error);
}

}  // namespace
}  // namespace touchstone::optimized
