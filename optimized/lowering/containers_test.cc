// Tests sequences and optionals: the reference's values and errors, in memory that later steps and
// runs do not touch.
#include <gmock/gmock.h>

#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

using ::testing::Not, ::testing::HasSubstr;

Tensor place(Index k) { return numbers(Type::int64, {}, {k}); }
Tensor floats(const std::vector<Index>& items) {
  return numbers(Type::float32, {static_cast<Index>(items.size())}, items);
}

// Tensors that a plan places are copied into the sequence; what follows overwrites their memory.
TEST(Containers, ASequenceIsMadeChangedAndTakenApart) {
  Build build;
  build.node("Add", {"x", "x"}, {"a"})
      .node("Mul", {"x", "x"}, {"b"})
      .node("SequenceConstruct", {"a", "b", "x"}, {"three"})
      .node("Neg", {"b"}, {"n"})
      .node("SequenceInsert", {"three", "n", "first"}, {"four"})
      .node("SequenceErase", {"four", "at"}, {"left"})
      .node("SequenceErase", {"left"}, {"fewer"})
      .node("SequenceAt", {"left", "at"}, {"item"})
      .node("SequenceLength", {"left"}, {"length"})
      .node("Add", {"item", "n"}, {"sum"})
      .out("sum")
      .out("left")
      .out("fewer")
      .out("length");
  const auto feeds = [](Index at, std::vector<Index> x) {
    return Feeds{{"x", floats(x)}, {"first", place(0)}, {"at", place(at)}};
  };
  const Model model = model_of(build, feeds(1, {1, 2}));
  const std::string kernels =
      same(model, {feeds(1, {1, 2}), feeds(-1, {3, 4}), feeds(-3, {5, 6, 7}), feeds(2, {8})});
  EXPECT_THAT(kernels, Not(HasSubstr("reference")));
}

TEST(Containers, RefuseWhatTheReferenceRefuses) {
  const auto taken = [](const char* op, std::vector<std::string> inputs) {
    Build build;
    build.node("SequenceConstruct", {"x", "x"}, {"s"}).node(op, std::move(inputs), {"y"}).out("y");
    return build;
  };
  const auto feeds = [](Index at) { return Feeds{{"x", floats({1, 2})}, {"at", place(at)}}; };
  for (const Index at : {-4, -3, -2, 0, 1, 2, 3}) {
    SCOPED_TRACE(at);
    same(taken("SequenceAt", {"s", "at"}), feeds(at));
    same(taken("SequenceErase", {"s", "at"}), feeds(at));
    same(taken("SequenceInsert", {"s", "x", "at"}), feeds(at));
  }
  const Feeds two{{"x", floats({1})}, {"at", list({0, 1})}};
  same(taken("SequenceAt", {"s", "at"}), two);
  same(taken("SequenceInsert", {"s", "at"}), feeds(0));
  Build none;
  none.node("SequenceEmpty", {}, {"s"}).node("SequenceErase", {"s"}, {"y"}).out("y");
  same(none, {{"x", floats({1})}});
}

TEST(Containers, OptionalsHoldWhatTheyAreGiven) {
  Build build;
  build.node("Add", {"x", "x"}, {"a"})
      .node("Optional", {"a"}, {"o"})
      .node("OptionalHasElement", {"o"}, {"has"})
      .node("OptionalHasElement", {"a"}, {"is"})
      .node("OptionalHasElement", {}, {"none"})
      .node("OptionalGetElement", {"o"}, {"held"})
      .node("OptionalGetElement", {"a"}, {"own"})
      .node("Mul", {"held", "own"}, {"y"})
      .out("y")
      .out("has")
      .out("is")
      .out("none")
      .out("held");
  const Feeds one{{"x", floats({1, 2, 3})}}, other{{"x", floats({4, 5})}};
  const std::string kernels = same(model_of(build, one), {one, other});
  EXPECT_THAT(kernels, Not(HasSubstr("reference")));
}

// A list grows by a tensor a trip, in its own memory, and is read before and after.
TEST(Containers, ALoopGrowsASequence) {
  const Build step = Build()
                         .in("i")
                         .in("goes")
                         .in("items")
                         .node("Identity", {"goes"}, {"on"})
                         .node("SequenceLength", {"items"}, {"n"})
                         .node("Cast", {"n"}, {"f"}, {{"to", integer(1)}})
                         .node("Add", {"x", "f"}, {"e"})
                         .node("SequenceInsert", {"items", "e"}, {"more"})
                         .out("on", Type::boolean)
                         .out("more");
  Build build;
  build.node("SequenceConstruct", {"x"}, {"one"})
      .node("Loop", {"trips", "", "one"}, {"all"}, {{"body", body(step)}})
      .node("ConcatFromSequence", {"all"}, {"y"}, {{"axis", integer(0)}})
      .node("SequenceAt", {"one", "at"}, {"first"})
      .out("y")
      .out("first");
  const auto feeds = [](Index count) {
    return Feeds{{"trips", place(count)}, {"x", floats({1, 2, 3})}, {"at", place(0)}};
  };
  same(model_of(build, feeds(5)), {feeds(5), feeds(0), feeds(40)});
}

// Parts of every length, along each axis, of elements of every size.
TEST(Containers, TensorsAreSplitIntoSequencesAndJoined) {
  for (const Type type : {Type::float32, Type::int8, Type::float64, Type::boolean}) {
    for (const Index axis : {0, 1, -1, 3, -4}) {
      for (const char* split : {"", "each", "lengths", "wrong", "none"}) {
        for (const Index keepdims : {0, 1}) {
          SCOPED_TRACE(std::string(split) + " " + std::to_string(axis));
          std::vector<std::string> inputs{"x"};
          if (*split != 0) inputs.emplace_back(split);
          Build build;
          build
              .node("SplitToSequence", inputs, {"s"},
                    {{"axis", integer(axis)}, {"keepdims", integer(keepdims)}})
              .node("ConcatFromSequence", {"s"}, {"y"}, {{"axis", integer(axis)}})
              .node("SequenceAt", {"s", "none"}, {"part"})
              .out("y")
              .out("part");
          const auto feeds = [&](const Shape& shape) {
            return Feeds{{"x", numbers(type, shape, {1, 2, 3, 4, 5, 6, 7})},
                         {"each", numbers(Type::int32, {}, {2})},
                         {"lengths", list({1, 0, 3})},
                         {"wrong", list({-1, 5})},
                         {"none", numbers(Type::int64, {}, {0})}};
          };
          same(model_of(build, feeds({4, 4, 4})), {feeds({4, 4, 4}), feeds({3, 2, 4})});
        }
      }
    }
  }
}

TEST(Containers, SequencesAreStackedOrRefused) {
  for (const Index axis : {0, 2, -3, -4, 3}) {
    for (const Index adds : {0, 1}) {
      SCOPED_TRACE(axis);
      Build build;
      build.node("SequenceConstruct", {"x", "z", "x"}, {"s"})
          .node("ConcatFromSequence", {"s"}, {"y"},
                {{"axis", integer(axis)}, {"new_axis", integer(adds)}})
          .out("y");
      const auto feeds = [](const Shape& x, const Shape& z) {
        return Feeds{{"x", numbers(Type::int64, x, {1, 2, 3})},
                     {"z", numbers(Type::int64, z, {4, 5, 6, 7})}};
      };
      same(model_of(build, feeds({2, 3}, {2, 3})), {feeds({2, 3}, {2, 3}), feeds({2, 3}, {4, 3}),
                                                    feeds({2, 0}, {2, 0}), feeds({2}, {2, 3})});
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized::flow
