// Tests that values of a region of pointwise nodes keep their memory while later nodes read them.
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/property_testing.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using testing::from_to;

constexpr std::array pointwise_operators{"Abs", "Neg", "Relu", "Add", "Mul"};

// One node of the newest value, and of the value so many before it.
struct Drawn {
  int op, back;
};

rc::Gen<Drawn> any_node() {
  return rc::gen::apply(
      [](int op, int back) {
        return Drawn{op, back};
      },
      from_to(0, static_cast<int>(pointwise_operators.size()) - 1), from_to(0, 5));
}

// Nodes whose last value is the only output.
Model region_of(const std::vector<Drawn>& nodes) {
  Net net({3, 7});
  std::vector<std::string> values{"x"};
  for (const Drawn& drawn : nodes) {
    const std::string op = pointwise_operators[static_cast<std::size_t>(drawn.op)];
    std::vector<std::string> operands{values.back()};
    const auto last = values.size() - 1, back = static_cast<std::size_t>(drawn.back);
    if (drawn.op > 2) operands.push_back(values[last - std::min(last, back)]);
    values.push_back(net.node(op, operands));
  }
  net.output(values.back());
  return net.model();
}

// Returns true if each level of passes gives the reference's elements.
bool agrees(const Model& model) {
  const std::map<std::string, Value> feeds{{"x", whole({3, 7}, 5)}};
  const Tensor expected = run(model, feeds).begin()->second.tensor();
  const float* const first = expected.data<float>();
  return std::ranges::all_of(
      std::array{transform::Level::none, transform::Level::all}, [&](transform::Level level) {
        Session session(model, {.threads = 1, .passes = {.level = level}});
        const Tensor made = session.run(feeds).begin()->second.tensor();
        return std::equal(first, first + expected.size(), made.data<float>(), [](float a, float b) {
          return a == b || (std::isnan(a) && std::isnan(b));
        });
      });
}

// The memory of the first absolute value is free when the sum `e` takes it; the second absolute
// value must not take it again, as a later sum reads `e`.
TEST(RegionValues, MemoryThatIsTakenAgainIsNotFree) {
  Net net({3, 7});
  const std::string a = net.node("Add", {"x", "x"});
  const std::string c = net.node("Add", {net.node("Abs", {a}), a});
  const std::string d = net.node("Mul", {c, "x"});
  const std::string e = net.node("Add", {d, "x"});
  net.output(net.node("Add", {net.node("Mul", {net.node("Abs", {e}), e}), d}));
  EXPECT_TRUE(agrees(net.model()));
}

RC_GTEST_PROP(RegionValues, AnyNodesGiveTheReferencesElements, ()) {
  auto nodes = *testing::up_to(14, any_node());
  nodes.push_back(*any_node());
  RC_ASSERT(agrees(region_of(nodes)));
}

}  // namespace
}  // namespace touchstone::optimized
