// Shapes of whole models: symbols, values that shapes depend on, subgraphs, functions, and invalid
// models.
#include "reference/shapes/shapes.h"

#include <gmock/gmock.h>

#include "reference/shapes/testing.h"

namespace touchstone::testing {
namespace {

[[maybe_unused]] const auto* const every_rule =
    ::testing::AddGlobalTestEnvironment(new EveryRuleIsBroken("shape/"));

// A cache: larger sizes of `total` alone would not do, and no two symbols are equal.
TEST(Shapes, ASymbolMayBeTheSumOfTwo) {
  const InferredShapes found = inferred(
      model(graph({node("Concat", {"past", "new"}, {"all"}, {{"axis", attribute(Index{0})}}),
                   node("Add", {"all", "mask"}, {"y"})},
                  {shaped("past", {n("past"), d(3)}), shaped("new", {n("seq"), d(3)}),
                   shaped("mask", {n("total"), d(3)})},
                  {floats("y")})));
  EXPECT_EQ(shape_of(found, "y"), "[past + seq,3]");
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_THAT(found.notes[0],
              ::testing::HasSubstr("total is taken as the sum of past and seq: else Add-14/"));
  EXPECT_TRUE(found.breaches.empty());
}

TEST(Shapes, ASymbolNamedAsASumIsOne) {
  const InferredShapes found = inferred(model(graph(
      {node("Concat", {"past", "new"}, {"y"}, {{"axis", attribute(Index{0})}})},
      {shaped("past", {n("past")}), shaped("new", {n("seq")}), shaped("mask", {n("past + seq")})},
      {floats("y")})));
  EXPECT_EQ(shape_of(found, "y"), "[past + seq]");
  EXPECT_EQ(shape_of(found, "mask"), "[past + seq]");
  EXPECT_THAT(found.notes,
              ::testing::ElementsAre("past + seq is taken as the sum of past and seq, as it says"));
}

// A kernel that counts elements is given a tensor without memory: unpacking would read past it.
TEST(Shapes, PackedElementsAreNotUnpackedToBeCounted) {
  Model made =
      model(graph({node("Size", {"x"}, {"count"}), node("ConstantOfShape", {"shape"}, {"y"})},
                  {shaped("x", {d(64), d(1024)}, Type::int4)}, {floats("y")}));
  made.opsets[""] = 21;
  made.graph.nodes.insert(made.graph.nodes.begin() + 1,
                          node("Reshape", {"count", "one"}, {"shape"}));
  made.graph.initializers.emplace("one", integers({1}));
  EXPECT_EQ(shape_of(inferred(std::move(made)), "y"), "[65536]");
}

TEST(Shapes, SymbolsGoThroughNodes) {
  const InferredShapes found =
      inferred(model(graph({node("Concat", {"x", "x"}, {"twice"}, {{"axis", attribute(Index{0})}}),
                            node("Add", {"twice", "b"}, {"y"})},
                           {shaped("x", {n("N"), d(3)}), shaped("b", {d(3)})}, {floats("y")})));
  EXPECT_EQ(shape_of(found, "x"), "[N,3]");
  EXPECT_EQ(shape_of(found, "twice"), "[2*N,3]");
  EXPECT_EQ(shape_of(found, "y"), "[2*N,3]");
  EXPECT_TRUE(found.notes.empty());
  EXPECT_TRUE(found.breaches.empty());
}

TEST(Shapes, AWindowDivides) {
  const InferredShapes found =
      inferred(model(graph({node("MaxPool", {"x"}, {"y"},
                                 {{"kernel_shape", attribute(std::vector<Index>{3})},
                                  {"strides", attribute(std::vector<Index>{2})}}),
                            node("Relu", {"y"}, {"z"})},
                           {shaped("x", {d(1), d(4), n("T")})}, {floats("z")})));
  EXPECT_EQ(shape_of(found, "z"), "[1,4,floor((T - 1)/2)]");
}

TEST(Shapes, ShapesBecomeValuesAndShapesAgain) {
  Graph g = graph({node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "first"}, {"batch"}),
                   node("Concat", {"batch", "rest"}, {"wanted"}, {{"axis", attribute(Index{0})}}),
                   node("Reshape", {"x", "wanted"}, {"y"})},
                  {shaped("x", {n("batch"), n("seq"), d(64)})}, {floats("y")});
  g.initializers = {{"first", integers({0})}, {"rest", integers({-1, 8})}};
  const InferredShapes found = inferred(model(std::move(g)));
  EXPECT_EQ(shape_of(found, "shape"), "[3]");
  EXPECT_EQ(shape_of(found, "y"), "[batch,8*seq,8]");
}

TEST(Shapes, SizesWithoutANameAreTheSameWhereTheyGo) {
  const InferredShapes found =
      inferred(model(graph({node("Relu", {"x"}, {"y"}), node("Transpose", {"y"}, {"z"})},
                           {shaped("x", {Dim{}, Dim{}})}, {floats("z")})));
  EXPECT_EQ(shape_of(found, "x"), "[?1,?2]");
  EXPECT_EQ(shape_of(found, "z"), "[?2,?1]");
}

TEST(Shapes, ValuesThatComeLaterLeaveWhatTheyHaveNoSayIn) {
  Graph g =
      graph({node("Slice", {"x", "from", "to", "axis"}, {"y"}),
             node("Reshape", {"x", "wanted"}, {"z"}), node("Reshape", {"x", "unheard"}, {"w"})},
            {shaped("x", {n("N"), d(4)}), shaped("from", {d(1)}, Type::int64),
             shaped("to", {d(1)}, Type::int64), shaped("wanted", {d(3)}, Type::int64),
             value("unheard", tensor_type(Type::int64))},
            {floats("y"), floats("z"), floats("w")});
  g.initializers = {{"axis", integers({1})}};
  const InferredShapes found = inferred(model(std::move(g)));
  EXPECT_EQ(shape_of(found, "y"), "[N,?1]");
  EXPECT_EQ(shape_of(found, "z"), "[?2,?3,?4]");
  EXPECT_EQ(shape_of(found, "w"), "?");
}

TEST(Shapes, ADeclarationFillsInWhatNobodyCanSay) {
  Graph g =
      graph({node("Reshape", {"x", "unheard"}, {"y"}), node("Relu", {"y"}, {"z"})},
            {shaped("x", {n("N")}), value("unheard", tensor_type(Type::int64))}, {floats("z")});
  g.values.push_back(shaped("y", {n("N"), d(1), Dim{}}));
  EXPECT_EQ(shape_of(inferred(model(std::move(g))), "z"), "[N,1,?1]");
}

TEST(Shapes, BranchesMustAgree) {
  const auto branch = [](std::vector<Node> nodes) {
    return graph_attribute(graph(std::move(nodes), {}, {floats("r")}));
  };
  const InferredShapes found = inferred(model(graph(
      {node("If", {"c"}, {"y"},
            {{"then_branch", branch({node("Transpose", {"x"}, {"r"})})},
             {"else_branch", branch({node("Relu", {"x"}, {"r"})})}}),
       node("If", {"c"}, {"z"},
            {{"then_branch", branch({node("Relu", {"x"}, {"r"})})},
             {"else_branch",
              branch({node("Concat", {"x", "x"}, {"r"}, {{"axis", attribute(Index{1})}})})}})},
      {shaped("c", {}, Type::boolean), shaped("x", {n("N"), n("N")})},
      {floats("y"), floats("z")})));
  EXPECT_EQ(shape_of(found, "y"), "[N,N]");
  EXPECT_EQ(shape_of(found, "z"), "[N,?1]");
  EXPECT_EQ(shape_of(found, "r", "If_1/else_branch"), "[N,2*N]");
}

// Carries x and outputs it in each iteration; the carried value grows if `grows`.
Model looping(bool grows, bool counted) {
  Graph body = graph({grows ? node("Concat", {"v", "v"}, {"w"}, {{"axis", attribute(Index{0})}})
                            : node("Relu", {"v"}, {"w"}),
                      node("Identity", {"go"}, {"on"}), node("Relu", {"v"}, {"s"})},
                     {shaped("i", {}, Type::int64), shaped("go", {}, Type::boolean), floats("v")},
                     {shaped("on", {}, Type::boolean), floats("w"), floats("s")});
  Graph g = graph({node("Loop", {counted ? "M" : "", counted ? "" : "go_on", "x"}, {"last", "all"},
                        {{"body", graph_attribute(std::move(body))}})},
                  {shaped("x", {n("N"), d(2)}), shaped("go_on", {}, Type::boolean)},
                  {floats("last"), floats("all")});
  g.initializers = {{"M", one(5)}};
  return model(std::move(g));
}

TEST(Shapes, LoopsCarryAndStack) {
  const InferredShapes counted = inferred(looping(false, true));
  EXPECT_EQ(shape_of(counted, "last"), "[N,2]");
  EXPECT_EQ(shape_of(counted, "all"), "[5,N,2]");
  EXPECT_EQ(shape_of(inferred(looping(false, false)), "all"), "[?1,N,2]");
  const InferredShapes grown = inferred(looping(true, true));
  EXPECT_EQ(shape_of(grown, "last"), "[?1,2]");
  EXPECT_EQ(shape_of(grown, "all"), "[5,?1,2]");
}

TEST(Shapes, CallsOfAFunctionAreToldApart) {
  Model m = model(graph({node("Twice", {"x"}, {"y"}), node("Twice", {"y"}, {"z"})},
                        {shaped("x", {n("N")})}, {floats("z")}));
  for (Node& call : m.graph.nodes) call.domain = "mine";
  m.opsets["mine"] = 1;
  auto twice = function("Twice", {"a"}, {"b"},
                        {node("Concat", {"a", "a"}, {"b"}, {{"axis", attribute(Index{0})}})});
  twice->domain = "mine";
  twice->opsets[""] = 21;
  m.functions.push_back(twice);
  const InferredShapes found = inferred(std::move(m));
  EXPECT_EQ(shape_of(found, "z"), "[4*N]");
  EXPECT_EQ(shape_of(found, "b", "Twice_0"), "[2*N]");
  EXPECT_EQ(shape_of(found, "b", "Twice_1"), "[4*N]");
}

TEST(Shapes, SymbolsThatMustBeEqualAreSaidToBe) {
  const InferredShapes found = inferred(
      model(graph({node("Add", {"a", "b"}, {"y"})},
                  {shaped("a", {n("N"), d(2)}), shaped("b", {n("M"), d(2)})}, {floats("y")})));
  EXPECT_EQ(shape_of(found, "y"), "[N,2]");
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0].rfind("N and M are taken as one size: else ", 0), 0U) << found.notes[0];
  EXPECT_TRUE(found.breaches.empty());
}

TEST(Shapes, WhatNoSizeMendsIsABreach) {
  const InferredShapes found =
      inferred(model(graph({node("Add", {"a", "b"}, {"y"})},
                           {shaped("a", {n("N"), d(2)}), shaped("b", {d(3)})}, {floats("y")})));
  EXPECT_EQ(shape_of(found, "y"), "?");
  // With N free the inputs differ between passes, so it is not an error at all sizes.
  ASSERT_EQ(found.notes.size() + found.breaches.size(), 1U);
  const InferredShapes fixed =
      inferred(model(graph({node("Add", {"a", "b"}, {"y"})},
                           {shaped("a", {d(2)}), shaped("b", {d(3)})}, {floats("y")})));
  ASSERT_EQ(fixed.breaches.size(), 1U);
  EXPECT_EQ(fixed.breaches[0].rule.rfind("Add-", 0), 0U);
  EXPECT_NE(fixed.breaches[0].place, "");
}

TEST(Shapes, DeclarationsThatContradict) {
  const auto declared = [](Dims dims) {
    return inferred(model(graph({node("Relu", {"x"}, {"y"})}, {shaped("x", {n("N"), d(2)})},
                                {shaped("y", std::move(dims))})));
  };
  for (const Dims& good :
       {Dims{n("N"), d(2)}, Dims{n("other"), d(2)}, Dims{Dim{}, Dim{}}, Dims{d(7), d(2)}}) {
    EXPECT_TRUE(declared(good).breaches.empty());
  }
  for (const Dims& bad : {Dims{n("N")}, Dims{n("N"), d(3)}}) {
    const InferredShapes found = declared(bad);
    ASSERT_EQ(found.breaches.size(), 1U);
    thrown("shape/declared", [&] { throw found.breaches[0]; });
  }
  EXPECT_STREQ(declared({n("N"), d(3)}).breaches[0].what(),
               "'y' is declared as [N,3], but is [N,2]");
}

TEST(Shapes, HostileModelsEnd) {
  // Each function calls the next one twice: 2^40 calls, if depth were not limited.
  Model m = model(graph({node("F0", {"x"}, {"y"})}, {shaped("x", {n("N")})}, {floats("y")}));
  m.graph.nodes[0].domain = "mine";
  m.opsets["mine"] = 1;
  for (int k = 0; k < 28; ++k) {
    const std::string next = k == 27 ? "Relu" : "F" + std::to_string(k + 1);
    auto f = function("F" + std::to_string(k), {"a"}, {"c"},
                      {node(next, {"a"}, {"b"}), node(next, {"b"}, {"c"})});
    for (Node& call : f->nodes) call.domain = k == 27 ? "" : "mine";
    f->domain = "mine";
    f->opsets = {{"", 21}, {"mine", 1}};
    m.functions.push_back(f);
  }
  const InferredShapes found = inferred(std::move(m));
  EXPECT_EQ(shape_of(found, "y"), "?");
  ASSERT_EQ(found.notes.size(), 1U);
  const InferredShapes huge =
      inferred(model(graph({node("Concat", {"x", "x"}, {"y"}, {{"axis", attribute(Index{0})}})},
                           {shaped("x", {d(Index{1} << 62), d(Index{1} << 62)})}, {floats("y")})));
  EXPECT_TRUE(huge.notes.empty());
}

// F_0 calls F_1 twice, and so on; the last one consists of `leaves`, from a to c.
Model doubling(int levels, std::vector<Node> leaves, const std::string& stem) {
  Model m =
      model(graph({node(stem + "0", {"x"}, {"y"})}, {shaped("x", {d(1), d(1)})}, {floats("y")}));
  m.graph.nodes[0].domain = "mine";
  m.opsets["mine"] = 1;
  for (int k = 0; k < levels; ++k) {
    const std::string next = stem + std::to_string(k + 1);
    std::vector<Node> body{node(next, {"a"}, {"b"}), node(next, {"b"}, {"c"})};
    for (Node& call : body) call.domain = "mine";
    body[1].index = 1;
    if (k + 1 == levels) body = leaves;
    m.functions.push_back(function(stem + std::to_string(k), {"a"}, {"c"}, std::move(body)));
    m.functions.back()->domain = "mine";
    m.functions.back()->opsets = {{"", 21}, {"ai.onnx.ml", 5}, {"mine", 1}};
  }
  return m;
}

TEST(Shapes, StepsAreCountedByWhatTheyCost) {
  const Node list =
      node("Constant", {}, {"c"}, {{"value_ints", attribute(std::vector<Index>(200'000))}});
  const InferredShapes found = inferred(doubling(20, {list}, "F"));
  EXPECT_EQ(found.notes.size(), 1U);
  EXPECT_LT(found.values.size(), 10'000U);
}

TEST(Shapes, PathsStayShortWhateverNamesOfFunctionsAre) {
  const InferredShapes found =
      inferred(doubling(6, {node("Relu", {"a"}, {"c"})}, std::string(100'000, 'f')));
  EXPECT_EQ(shape_of(found, "y"), "[1,1]");
  for (const InferredValue& value : found.values) EXPECT_LT(value.path.size(), 600U);
}

}  // namespace
}  // namespace touchstone::testing
