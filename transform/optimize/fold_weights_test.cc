// Tests which weights passes compute, up to which size, and which they leave to the run.
#include <gtest/gtest.h>

#include "core/error.h"
#include "transform/optimize/testing.h"

namespace touchstone {
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

}  // namespace
}  // namespace touchstone
