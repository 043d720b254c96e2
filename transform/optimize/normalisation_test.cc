// Tests that passes leave normalisations whose inputs have several float types: weights of the
// narrow type would round what is computed in the wide one.
#include <gtest/gtest.h>

#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::node;

struct NormalisationTypes {
  Type x = Type::float32, scale = Type::float32, mean = Type::float32;
};

// X -> node `first`, if any -> BatchNormalization -> node `last`, if any -> Y
Model normalised(const NormalisationTypes& types, std::optional<Node> first,
                 std::optional<Node> last) {
  const std::vector<Dim> shape{{1, ""}, {1, ""}, {3, ""}};
  std::vector<Node> nodes;
  if (first) nodes.push_back(*first);
  nodes.push_back(node("BatchNormalization",
                       {first ? first->outputs[0] : "X", "scale", "scale", "mean", "mean"},
                       {last ? last->inputs[0] : "Y"}));
  if (last) nodes.push_back(*last);
  Model model = testing::model(testing::graph(std::move(nodes),
                                              {testing::value("X", tensor_type(types.x), shape)},
                                              {testing::value("Y", tensor_type(types.x))}));
  model.graph.initializers = {{"w", Tensor(types.x, {1, 1, 1})},
                              {"k", Tensor(types.x, {1, 1})},
                              {"scale", Tensor(types.scale, {1})},
                              {"mean", Tensor(types.mean, {1})}};
  return sound(std::move(model));
}

Index changes_of(const Model& model) {
  PassOptions options;
  options.level = Level::extended;
  const Optimized made = optimize(model, options);
  return changes(made, "fold-normalisation") + changes(made, "spread-normalisation");
}

TEST(Normalisation, OfSeveralTypesStays) {
  const Type narrow = Type::float16, wide = Type::float32;
  const Node conv = node("Conv", {"X", "w"}, {"c"}), factor = node("Mul", {"n", "k"}, {"Y"}),
             offset = node("Add", {"n", "k"}, {"Y"});
  for (const NormalisationTypes& alike :
       {NormalisationTypes{}, NormalisationTypes{narrow, narrow, narrow}}) {
    EXPECT_GT(changes_of(normalised(alike, {}, {})), 0);
    EXPECT_GT(changes_of(normalised(alike, conv, {})), 0);
  }
  for (const NormalisationTypes& types :
       {NormalisationTypes{narrow, wide, wide}, NormalisationTypes{narrow, narrow, wide},
        NormalisationTypes{wide, narrow, wide}}) {
    EXPECT_EQ(changes_of(normalised(types, {}, {})), 0);
    EXPECT_EQ(changes_of(normalised(types, conv, {})), 0);
    if (types.scale == types.x) continue;  // their product is rounded as the other one
    EXPECT_EQ(changes_of(normalised(types, {}, factor)), 0);
    EXPECT_EQ(changes_of(normalised(types, {}, offset)), 0);
  }
}

// Until version 9 the outputs of statistics select training, whoever reads them.
TEST(Normalisation, OfTheBatchsOwnStatisticsStays) {
  Model model = normalised({}, node("Conv", {"X", "w"}, {"c"}), {});
  model.opsets[""] = 9;
  EXPECT_GT(changes_of(sound(model)), 0);
  model.graph.nodes[1].outputs = {"Y", "m", "v", "sm", "sv"};
  EXPECT_EQ(changes_of(sound(std::move(model))), 0);
}

// The operator refuses a number, which a factor and an offset would take.
TEST(Normalisation, OfANumberStays) {
  for (const std::size_t rank : {0, 1}) {
    Model model = normalised({}, {}, {});
    model.graph.inputs[0].shape = std::vector<Dim>(rank, {1, ""});
    EXPECT_EQ(changes_of(model) > 0, rank > 0);
  }
}

// An operand of the rank of an image makes one of a number, which no convolution takes.
TEST(Normalisation, AFactorThatRaisesTheRankStays) {
  for (const char* op : {"Mul", "Add"}) {
    for (const bool is_image : {true, false}) {
      const std::vector<Dim> shape = is_image ? std::vector<Dim>(3, {1, ""}) : std::vector<Dim>{};
      Model model = testing::model(testing::graph(
          {node(op, {"X", "k"}, {"m"}), node("Conv", {"m", "w"}, {"Y"})},
          {testing::value("X", tensor_type(Type::float32), shape)}, {testing::floats("Y")}));
      model.graph.initializers = {{"w", Tensor(Type::float32, {1, 1, 1})},
                                  {"k", Tensor(Type::float32, {1, 1, 1})}};
      EXPECT_EQ(changes_of(sound(std::move(model))) > 0, is_image) << op;
    }
  }
}

}  // namespace
}  // namespace touchstone::transform
