// Tests that runs reuse the memory of outputs that their caller has dropped, and no other.
#include <gmock/gmock.h>

#include "optimized/plan/output_buffers.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

const Limits trusted = Limits::trusted();

TEST(OutputBuffers, WhatTheCallerHasDroppedIsUsedAgain) {
  OutputBuffers buffers;
  const Shape shape{300, 300};
  Tensor first = buffers.get("y", Type::float32, shape, trusted);
  Tensor second = buffers.get("y", Type::float32, shape, trusted);
  const void *const one = first.identity(), *const other = second.identity();
  EXPECT_NE(one, other);
  Tensor third = buffers.get("y", Type::float32, shape, trusted);
  EXPECT_NE(third.identity(), one);
  EXPECT_NE(third.identity(), other);
  second = {};
  EXPECT_EQ(buffers.get("y", Type::float32, shape, trusted).identity(), other);
  const Tensor view = third.reshaped({90'000});
  third = {};
  EXPECT_EQ(buffers.get("y", Type::float32, shape, trusted).identity(), other) << "a view is left";
}

TEST(OutputBuffers, AnotherShapeOrTypeOrNameGetsOther) {
  OutputBuffers buffers;
  const void* const first = buffers.get("y", Type::float32, {300, 300}, trusted).identity();
  const Tensor shape = buffers.get("y", Type::float32, {300, 301}, trusted);
  EXPECT_EQ(shape.shape(), (Shape{300, 301}));
  const Tensor type = buffers.get("y", Type::int32, {300, 300}, trusted);
  EXPECT_EQ(type.type(), Type::int32);
  const Tensor name = buffers.get("z", Type::float32, {300, 300}, trusted);
  EXPECT_NE(name.identity(), first);
}

TEST(OutputBuffers, FewBytesOrAShareOfTheLimitAreNotKept) {
  OutputBuffers buffers;
  EXPECT_TRUE(buffers.get("y", Type::float32, {100}, trusted).is_sole());
  Limits little = trusted;
  little.memory = 1'000'000;
  EXPECT_TRUE(buffers.get("y", Type::float32, {300, 300}, little).is_sole());
  EXPECT_FALSE(buffers.get("y", Type::float32, {300, 300}, trusted).is_sole());
}

TEST(OutputBuffers, ARunChangesNoOutputThatIsHeld) {
  Net net({1, 3, 96, 96});
  net.output(net.node("Relu", {net.convolution("x", {16, 3, 3, 3}, padded)}));
  const Model model = net.model();
  for (const Index threads : {1, 2}) {
    Session session(model, {.threads = threads});
    std::vector<Tensor> held;
    std::vector<const void*> seen;
    for (unsigned k = 0; k < 6; ++k) {
      const std::map<std::string, Value> feeds{{"x", whole({1, 3, 96, 96}, k % 3)}};
      const Tensor made = session.run(feeds).begin()->second.tensor();
      seen.push_back(made.identity());
      if (k % 2 == 0) held.push_back(made);  // for k 0, 2, 4: feeds 0, 2, 1
    }
    EXPECT_EQ(seen[2], seen[1]) << "dropped after its run";
    const std::array<unsigned, 3> fed{0, 2, 1};
    for (std::size_t k = 0; k < held.size(); ++k) {
      const Tensor wanted =
          run(model, {{"x", whole({1, 3, 96, 96}, fed[k])}}).begin()->second.tensor();
      EXPECT_TRUE(same_bytes(held[k], wanted));
    }
  }
}

TEST(OutputBuffers, AnOutputMayBeFedToTheNextRun) {
  Net net({1, 3, 96, 96});
  net.output(net.node("Add", {"x", net.constant({3, 96, 96})}));
  const Model model = net.model();
  Session session(model, {.threads = 1});
  Value state = whole({1, 3, 96, 96}, 1), expected = state;
  for (int k = 0; k < 5; ++k) {
    state = session.run({{"x", state}}).begin()->second;
    expected = run(model, {{"x", expected}}).begin()->second;
  }
  EXPECT_TRUE(same_bytes(state.tensor(), expected.tensor()));
}

}  // namespace
}  // namespace touchstone::optimized
