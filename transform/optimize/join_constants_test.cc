// Tests which constants stay apart, since one in their place would not be finite, or be rounded.
#include <gtest/gtest.h>

#include <cmath>

#include "transform/optimize/testing.h"

namespace touchstone::transform {
namespace {

using testing::node;

// Y = (X op a) op b
Index joined(const std::string& op, float a, float b) {
  Model model = with_constants({node(op, {"X", "a"}, {"m"}), node(op, {"m", "b"}, {"Y"})},
                               {{"a", scalar(a)}, {"b", scalar(b)}});
  model.graph.inputs[0].shape = std::vector<Dim>{{2}};
  return changes(optimized(model, {"fold-normalisation"}), "fold-normalisation");
}

TEST(JoinConstants, FactorsOfWhichTheProductIsNormal) {
  EXPECT_EQ(joined("Mul", 3, -0.5F), 1);
  EXPECT_EQ(joined("Mul", 1e20F, 1e18F), 1);
  EXPECT_EQ(joined("Mul", 1e20F, 1e20F), 0);
  EXPECT_EQ(joined("Mul", -1e20F, 1e20F), 0);
  EXPECT_EQ(joined("Mul", 1e-19F, 1e-18F), 1);
  EXPECT_EQ(joined("Mul", 1e-20F, 1e-20F), 0);  // subnormal
  EXPECT_EQ(joined("Mul", 1e-30F, 1e-30F), 0);
  EXPECT_EQ(joined("Mul", 0, 1e-30F), 1);
  EXPECT_EQ(joined("Mul", INFINITY, 0), 0);
  EXPECT_EQ(joined("Mul", NAN, 1), 0);
}

TEST(JoinConstants, OffsetsOfWhichTheSumIsFinite) {
  EXPECT_EQ(joined("Add", 1e38F, -2e38F), 1);
  EXPECT_EQ(joined("Add", 3e38F, 3e38F), 0);
  EXPECT_EQ(joined("Add", INFINITY, 1), 0);
}

TEST(JoinConstants, WeightsThatStayFinite) {
  const auto folded = [](float weight, float factor) {
    Tensor w(Type::float32, {1, 1, 1}), k(Type::float32, {1});
    w.data<float>()[0] = weight;
    k.data<float>()[0] = factor;
    Model model = with_constants({node("Conv", {"X", "w"}, {"c"}), node("Mul", {"c", "k"}, {"Y"})},
                                 {{"w", w}, {"k", k}});
    model.graph.inputs[0].shape = std::vector<Dim>{{1}, {1}, {3}};
    return changes(optimized(model, {"fold-normalisation"}), "fold-normalisation");
  };
  EXPECT_EQ(folded(2, 3), 1);
  EXPECT_EQ(folded(1e30F, 1e30F), 0);
}

}  // namespace
}  // namespace touchstone::transform
