// Tests that dead nodes are dropped before other passes count consumers.
#include <gtest/gtest.h>

#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::node;

Node normalisation(const std::string& output) {
  return node("BatchNormalization", {"c", "ones", "zeros", "zeros", "ones"}, {output});
}

Optimized extended(const Model& model) {
  PassOptions options;
  options.level = Level::extended;
  return optimize(model, options);
}

// Y = a batch normalisation of a convolution, beside which another one has no readers.
Model normalised_twice() {
  Model model = testing::model(
      testing::graph({node("Conv", {"X", "w"}, {"c"}), normalisation("dead"), normalisation("Y")},
                     {testing::value("X", tensor_type(Type::float32),
                                     std::vector<Dim>{{1, ""}, {1, ""}, {3, ""}})},
                     {testing::floats("Y")}));
  model.graph.initializers = {{"w", Tensor(Type::float32, {1, 1, 1})},
                              {"ones", testing::tensor({1})},
                              {"zeros", testing::tensor({0})}};
  return sound(std::move(model));
}

// A spread normalisation would round twice what normalised-conv rounds once, in the round before
// the dead reader is gone.
TEST(DropDead, ADeadReaderKeepsNoNormalisationOutOfWeights) {
  const Optimized made = extended(normalised_twice());
  EXPECT_EQ(changes(made, "fold-normalisation"), 1);
  EXPECT_EQ(changes(made, "spread-normalisation"), 0);
}

TEST(DropDead, NorDoesADeadReaderInAFunction) {
  Model model = normalised_twice();
  auto body = testing::function("F", {"x", "w", "ones", "zeros"}, {"y"}, model.graph.nodes);
  body->nodes[0].inputs[0] = "x";
  body->nodes[2].outputs[0] = "y";
  Node call = node("F", {"X", "w", "ones", "zeros"}, {"Y"});
  call.domain = body->domain;
  model.opsets[body->domain] = 1;
  model.functions = {body};
  model.graph = testing::graph({call}, model.graph.inputs, model.graph.outputs);
  model.graph.initializers = normalised_twice().graph.initializers;
  const Optimized made = extended(sound(std::move(model)));
  EXPECT_EQ(changes(made, "fold-normalisation"), 1);
  EXPECT_EQ(changes(made, "spread-normalisation"), 0);
}

}  // namespace
}  // namespace touchstone::transform
