// Sizes that inference marks as assumed: those that other sizes of symbols, or other values of a
// tensor that is fed, may change.
#include <limits>

#include "reference/shapes/testing.h"

namespace touchstone::testing {
namespace {

TEST(Shapes, WhatIsAssumedOfSymbolsMarksTheSizesThatMayDependOnIt) {
  InferredShapes found =
      inferred(model(graph({node("Add", {"a", "b"}, {"y"}), node("Add", {"y", "c"}, {"z"})},
                           {shaped("a", {n("N"), n("K"), d(2)}),
                            shaped("b", {n("M"), n("K"), d(2)}), shaped("c", {n("K"), d(2)})},
                           {floats("z")})));
  EXPECT_EQ(assumptions_of(found, "z"), "N!,K,2");
  EXPECT_EQ(assumptions_of(found, "c"), "K,2");
  Model squeezing = model(graph({node("Squeeze", {"a", "axes"}, {"y"})},
                                {shaped("a", {n("N"), n("M"), d(2)})}, {floats("y")}));
  squeezing.graph.initializers.emplace("axes", integers({1}));
  found = inferred(std::move(squeezing));
  EXPECT_EQ(assumptions_of(found, "a"), "N,1!,2");
  found = inferred(model(
      graph({node("Concat", {"past", "new"}, {"all"}, {{"axis", attribute(Index{0})}}),
             node("Add", {"all", "mask"}, {"y"})},
            {shaped("past", {n("past")}), shaped("new", {n("seq")}), shaped("mask", {n("total")})},
            {floats("y")})));
  EXPECT_EQ(assumptions_of(found, "mask"), "past + seq!");
}

TEST(Shapes, WhatSmallOrLargeSymbolsChangeIsAssumed) {
  const auto sliced = [](Index start, Index end) {
    Model made =
        model(graph({node("Slice", {"x", "start", "end"}, {"y"}), node("Relu", {"y"}, {"z"})},
                    {shaped("x", {n("N"), d(2)})}, {floats("z")}));
    made.graph.initializers.emplace("start", integers({start}));
    made.graph.initializers.emplace("end", integers({end}));
    return inferred(std::move(made));
  };
  constexpr Index last = std::numeric_limits<Index>::max();
  EXPECT_EQ(assumptions_of(sliced(0, last), "z"), "N,2");
  EXPECT_EQ(assumptions_of(sliced(0, 1), "z"), "min(1, N),2");
  EXPECT_EQ(assumptions_of(sliced(1, 3), "z"), "min(3, N) - min(1, N),2");
  EXPECT_EQ(assumptions_of(sliced(1, last), "z"), "N - min(1, N),2");
  EXPECT_EQ(assumptions_of(sliced(0, 1000), "z"), "min(1000, N),2");
}

// A loop without a trip gives what its body declares, which need not be what a trip computes.
TEST(Shapes, StacksOfNoTripHaveDeclaredSizes) {
  const auto stacked = [](std::optional<std::vector<Dim>> declared, std::optional<Index> trips) {
    ValueInfo out = value("out", tensor_type(Type::float32), {});
    out.shape = std::move(declared);
    Graph body = graph({node("Identity", {"go"}, {"next"}), node("Relu", {"x"}, {"out"})},
                       {shaped("i", {}, Type::int64), shaped("go", {}, Type::boolean)},
                       {shaped("next", {}, Type::boolean), std::move(out)});
    Graph all =
        graph({node("Loop", {"M", ""}, {"y"}, {{"body", graph_attribute(std::move(body))}})},
              {shaped("x", {n("N"), d(2)})}, {floats("y")});
    if (trips) {
      all.initializers.emplace("M", one(*trips));
    } else {
      all.inputs.push_back(shaped("M", {}, Type::int64));
    }
    return inferred(model(std::move(all)));
  };
  const Dims open{Dim{}, d(2)};
  EXPECT_EQ(assumptions_of(stacked(open, 3), "y"), "3,N,2");
  EXPECT_EQ(assumptions_of(stacked(open, 0), "y"), "0,0,2");
  EXPECT_EQ(assumptions_of(stacked(std::nullopt, 0), "y"), "0");
  EXPECT_EQ(assumptions_of(stacked(open, std::nullopt), "y"), "?1,N!,2");
  EXPECT_EQ(assumptions_of(stacked(std::nullopt, std::nullopt), "y"), "?1!,N!,2!");
}

// One fed tensor as starts and as axes: starts of 1 on axis 1 alone would leave dimension 0 as it
// is.
TEST(Shapes, SizesThatFedValuesDecideAreOpen) {
  Model made = model(graph({node("Slice", {"x", "at", "end", "at", "step"}, {"y"})},
                           {shaped("x", {n("N"), d(17)}), shaped("at", {d(1)}, Type::int64),
                            shaped("end", {d(1)}, Type::int64)},
                           {floats("y")}));
  made.graph.initializers.emplace("step", integers({1}));
  EXPECT_EQ(shape_of(inferred(std::move(made)), "y"), "[?1,?2]");

  made = model(graph({node("Range", {"from", "to", "by"}, {"y"})},
                     {shaped("from", {}, Type::int64)}, {floats("y")}));
  made.graph.outputs.front().type = tensor_type(Type::int64);
  made.graph.initializers.emplace("to", one(-2));
  made.graph.initializers.emplace("by", one(-5000));
  EXPECT_EQ(shape_of(inferred(std::move(made)), "y"), "[?1]");

  // The first size must be that of theta: a rule that leaves few values to be tried.
  made = model(graph({node("AffineGrid", {"theta", "size"}, {"y"})},
                     {shaped("theta", {d(2), d(3), d(4)}), shaped("size", {d(5)}, Type::int64)},
                     {floats("y")}));
  EXPECT_EQ(shape_of(inferred(std::move(made)), "y"), "[?1,?2,?3,?4,?5]");
}

// The window must not exceed the image: one size for both is a way to keep to it, not the only one.
TEST(Shapes, WhatEqualSymbolsMakeConstantIsAssumed) {
  const InferredShapes found = inferred(model(graph(
      {node("Conv", {"x", "w"}, {"y"})},
      {shaped("x", {d(1), d(1), n("L")}), shaped("w", {d(1), d(1), n("K")})}, {floats("y")})));
  EXPECT_EQ(assumptions_of(found, "y").substr(0, 4), "1,1,");
  EXPECT_EQ(assumptions_of(found, "y").back(), '!') << assumptions_of(found, "y");
}

}  // namespace
}  // namespace touchstone::testing
