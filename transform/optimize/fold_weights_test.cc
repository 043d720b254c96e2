// Tests which weights passes compute, up to which size, and which they leave to the run.
#include <gtest/gtest.h>

#include "core/error.h"
#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::node;

// Y = X a b, where a and b are filled from shapes.
Model products_of_fillings(Index rows, Index columns) {
  return with_constants(
      {node("ConstantOfShape", {"s"}, {"a"}), node("ConstantOfShape", {"t"}, {"b"}),
       node("MatMul", {"X", "a"}, {"p"}), node("MatMul", {"p", "b"}, {"Y"})},
      {{"s", indices({rows, columns})}, {"t", indices({columns, rows})}});
}

PassOptions at_all_levels() {
  PassOptions options;
  options.level = Level::all;
  return options;
}

TEST(Passes, FoldWeightsOfAnySizeForWhatWantsThemConstant) {
  const Model model = products_of_fillings(600, 700);
  EXPECT_EQ(changes(optimize(model, at_all_levels()), "fold-weights"), 2);
  PassOptions extended;
  extended.level = Level::extended;
  EXPECT_EQ(optimize(model, extended).model.graph.nodes.size(), 4U);
}

TEST(Passes, FoldWeightsAsFarAsTheyMayTakeMemoryTogether) {
  const Model model = products_of_fillings(600, 700);  // 1.68 MB each
  PassOptions options = at_all_levels();
  options.weights = 3'000'000;
  EXPECT_EQ(changes(optimize(model, options), "fold-weights"), 1);
  options.weights = 4'000'000;
  EXPECT_EQ(changes(optimize(model, options), "fold-weights"), 2);
  options.limits.bytes = 4 * 3'000'000;
  EXPECT_EQ(changes(optimize(model, options), "fold-weights"), 1);
}

// The largest tensor allowed and a larger one: neither is allocated.
TEST(Passes, LeaveWeightsThatPassTheLimitsToTheRun) {
  for (const Index columns : {Index{1} << 31, Index{1} << 33}) {
    const Model model = products_of_fillings(1, columns);
    EXPECT_EQ(optimize(model, at_all_levels()).model.graph.nodes.size(), 4U);
  }
}

TEST(Passes, FoldOnlyWhatIsSmallForOthers) {
  const Model model =
      with_constants({node("ConstantOfShape", {"s"}, {"a"}), node("Add", {"X", "a"}, {"Y"})},
                     {{"s", indices({600, 700})}});
  EXPECT_EQ(optimize(model, at_all_levels()).model.graph.nodes.size(), 2U);
}

TEST(Passes, KeepQuantisedWeightsBelowTheHighestLevel) {
  Tensor w(Type::int8, {2});
  w.data<std::int8_t>()[0] = 3, w.data<std::int8_t>()[1] = -4;
  const Model model =
      with_constants({node("DequantizeLinear", {"w", "s"}, {"d"}), node("Add", {"X", "d"}, {"Y"})},
                     {{"w", w}, {"s", scalar(0.5F)}});
  EXPECT_EQ(optimize(model, {}).model.graph.nodes.size(), 2U);
  const Optimized made = optimize(model, at_all_levels());
  EXPECT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(run_on(made.model, {1, 1}), std::vector<float>({2.5F, -1}));
  for (const char* name : {"keep-quantised", "keep-as-written"}) {
    PassOptions options;
    options.without = {name};
    EXPECT_EQ(optimize(model, options).model.graph.nodes.size(), 1U) << name;
  }
}

// An evaluator takes large nodes alone. What it refuses stays.
TEST(Passes, FoldLargeNodesWithTheCallersEvaluator) {
  const auto products = [](Index size) {
    Tensor a(Type::float32, {size, size});
    return with_constants({node("Add", {"a", "a"}, {"b"}), node("MatMul", {"X", "b"}, {"Y"})},
                          {{"a", a}});
  };
  for (const Index size : {2, 100}) {
    Index calls = 0;
    PassOptions options = at_all_levels();
    options.evaluator = [&](const Node& taken, const std::vector<Value>& inputs, const Model&) {
      ++calls;
      EXPECT_EQ(taken.op, "Add");
      EXPECT_EQ(inputs.size(), 2U);
      Tensor filled(Type::float32, {size, size});
      std::fill_n(filled.data<float>(), filled.size(), 3.0F);
      return std::vector<Value>{filled};
    };
    const Optimized made = optimize(products(size), options);
    EXPECT_EQ(calls, size == 2 ? 0 : 1);
    ASSERT_EQ(made.model.graph.nodes.size(), 1U);
    const Tensor& weights = made.model.graph.initializers.at(made.model.graph.nodes[0].inputs[1]);
    EXPECT_EQ(weights.data<float>()[0], size == 2 ? 0.0F : 3.0F);
    options.evaluator = [](const Node&, const std::vector<Value>&,
                           const Model&) -> std::vector<Value> {
      throw Error(ErrorKind::unsupported, "refused");
    };
    EXPECT_EQ(optimize(products(size), options).model.graph.nodes.size(), size == 2 ? 1U : 2U);
  }
}

// The outputs keep their names and bits, however an inexact pass would compute them.
TEST(FoldConstants, AnOutputOfConstantsIsACopyOfOne) {
  Model model =
      with_constants({testing::node("Neg", {"a"}, {"Z"}), testing::node("Abs", {"Z"}, {"t"}),
                      testing::node("Add", {"X", "t"}, {"Y"})},
                     {{"a", testing::tensor({1, 2})}});
  model.graph.outputs.push_back(testing::floats("Z"));
  const Optimized made = optimized(sound(model), {"fold-constants"});
  EXPECT_EQ(changes(made, "fold-constants"), 2);
  const std::vector<Node>& nodes = made.model.graph.nodes;
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].op, "Identity");
  EXPECT_EQ(nodes[0].outputs[0], "Z");
  EXPECT_EQ(run_on(made.model, {10, 20}), std::vector<float>({11, 22}));
  EXPECT_EQ(changes(optimized(made.model, {"fold-constants"}), "fold-constants"), 0);
  // Readers of a copy that the model has itself are folded, too.
  model.graph.nodes[0].op = "Identity";
  EXPECT_EQ(optimized(sound(model), {"fold-constants"}).model.graph.nodes.size(), 2U);
}

}  // namespace
}  // namespace touchstone::transform
