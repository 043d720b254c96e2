// Tests what a bundle finds that its models need.
#include "optimized/bundle.h"

#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto count_of_all = all_components.size();

Net small_net(Shape input) {
  Net net(std::move(input));
  const std::string image = net.node("Relu", {net.convolution("x", {32, 16, 1, 1})});
  const std::string mean = net.node("Flatten", {net.node("GlobalAveragePool", {image})});
  net.output(net.node("Gemm", {mean, net.constant({8, 32})}, {}, {{"transB", 1}}));
  return net;
}

TEST(Bundle, APlanNeedsItsComponentsAndNoFamilies) {
  const Bundled made = bundled(small_net({1, 16, 9, 9}).model(), {}, true);
  EXPECT_THAT(made.operators,
              ElementsAre("Conv-11", "Flatten-21", "Gemm-13", "GlobalAveragePool-1", "Relu-14"));
  EXPECT_THAT(made.families, IsEmpty());
  EXPECT_THAT(made.fused_families, IsEmpty());
  EXPECT_THAT(made.components, ElementsAre(Component::matmul, Component::pool));
  EXPECT_FALSE(made.all_families);
}

// Without the model's plan, any node may run on any step that takes it.
TEST(Bundle, AnotherInstructionSetMayNeedAnyComponent) {
  const Bundled made = bundled(small_net({1, 16, 9, 9}).model(), {}, false);
  EXPECT_EQ(made.components.size(), count_of_all);
  EXPECT_THAT(made.families, Contains("convolution"));
}

TEST(Bundle, OpenSizesMayNeedAnyComponentUnlessTheyAreFixed) {
  Model model = small_net({1, 16, 9, 9}).model();
  model.graph.inputs[0].shape->front() = Dim{std::nullopt, "batch"};
  EXPECT_EQ(bundled(model, {}, true).components.size(), count_of_all);
  SessionOptions fixed;
  fixed.dims["batch"] = 1;
  EXPECT_THAT(bundled(model, fixed, true).components,
              ElementsAre(Component::matmul, Component::pool));
}

// A family is a unit: which products it makes, the plan does not tell.
TEST(Bundle, AFamilyMayNeedAnyProduct) {
  Net net({4, 64});
  net.output(net.node("Softmax", {"x"}));
  const Bundled made = bundled(net.model(), {}, true);
  EXPECT_THAT(made.families, ElementsAre("row_norms"));
  EXPECT_THAT(made.components, Contains(Component::matmul));
  EXPECT_THAT(made.components, Not(Contains(Component::row_kernels)));
}

}  // namespace
}  // namespace touchstone::optimized
