// Proofs that follow others of the same model: results must be those of a proof from nothing.
#include "reference/shapes/proved_shapes.h"

#include "model/testing.h"

namespace touchstone::testing {
namespace {

ValueInfo open(const std::string& name, Index rank, Type type = Type::float32) {
  return value(name, tensor_type(type), std::vector<Dim>(static_cast<std::size_t>(rank)));
}

Tensor list(std::vector<Index> values) {
  Tensor made(Type::int64, Shape{static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), made.data<Index>());
  return made;
}

Attribute branch(std::vector<Node> nodes) {
  return graph_attribute(graph(std::move(nodes), {}, {floats("r")}));
}

// Shape arithmetic, a rule that some sizes violate, a body that captures values, a function.
Model made_of_everything() {
  auto twice = function("Twice", {"a"}, {"b"},
                        {node("Concat", {"a", "a"}, {"b"}, {{"axis", attribute(Index{0})}})});
  twice->domain = "mine";
  twice->opsets[""] = 21;
  Node call = node("Twice", {"flat"}, {"twice"});
  call.domain = "mine";
  Graph all = graph(
      {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "first"}, {"n"}),
       node("Concat", {"n", "rest"}, {"to"}, {{"axis", attribute(Index{0})}}),
       node("Reshape", {"x", "to"}, {"flat"}), std::move(call), node("Add", {"x", "y"}, {"sum"}),
       node("Relu", {"sum"}, {"relu"}),
       node("If", {"c"}, {"picked"},
            {{"then_branch", branch({node("Relu", {"y"}, {"r"})})},
             {"else_branch", branch({node("Neg", {"y"}, {"r"})})}}),
       node("NonZero", {"x"}, {"places"}), node("ConstantOfShape", {"to_fill"}, {"filled"}),
       node("Mul", {"filled", "y"}, {"z"})},
      {open("x", 3), open("y", 2), open("c", 0, Type::boolean), open("to_fill", 1, Type::int64)},
      {floats("z"), floats("relu"), floats("picked"), floats("twice")});
  all.initializers.emplace("first", list({0}));
  all.initializers.emplace("rest", list({-1}));
  Model made = model(std::move(all));
  made.opsets["mine"] = 1;
  made.functions.push_back(twice);
  resolve(made);
  return made;
}

void expect_same(const ShapeProver& prover, const ProvedShapes& expected) {
  EXPECT_EQ(prover.violations(), expected.violations);
  EXPECT_EQ(prover.breaks_surely(), expected.breaks_surely);
  EXPECT_EQ(prover.conditions(), expected.conditions);
  for (const auto& [name, value] : expected.values) {
    EXPECT_EQ(prover.value(name).shape, value.shape) << name;
    EXPECT_EQ(prover.value(name).type, value.type) << name;
  }
}

TEST(ProvedShapes, AProofAfterOthersIsThatFromNothing) {
  const Model model = made_of_everything();
  const Limits limits = Limits::untrusted();
  ShapeProver prover(model, limits);
  const auto feeds = [](Index n, Index columns, Index rows) {
    return std::map<std::string, Shape>{
        {"x", {n, 2, columns}}, {"y", {rows, columns}}, {"c", {}}, {"to_fill", {2}}};
  };
  Index violated = 0;
  for (const Index columns : {3, 4}) {
    for (const Index rows : {2, 1, 5, 2}) {
      for (const Index n : {1, 7, 7, 0}) {
        SCOPED_TRACE(std::to_string(n) + " " + std::to_string(columns) + " " +
                     std::to_string(rows));
        prover.prove(feeds(n, columns, rows));
        const ProvedShapes expected = prove_shapes(model, feeds(n, columns, rows), limits);
        expect_same(prover, expected);
        violated += static_cast<Index>(expected.violations.size());
        EXPECT_EQ(expected.violations.contains(5), rows == 5);
      }
    }
  }
  EXPECT_GT(violated, 0);
}

TEST(ProvedShapes, AFeedThatHidesADefaultIsForgottenWithIt) {
  Graph all = graph({node("Reshape", {"x", "to"}, {"y"})},
                    {open("x", 1), open("to", 1, Type::int64)}, {floats("y")});
  all.initializers.emplace("to", list({2, -1}));
  Model made = model(std::move(all));
  resolve(made);
  ShapeProver prover(made, {});
  for (int k = 0; k < 2; ++k) {
    prover.prove({{"x", {6}}});
    EXPECT_EQ(prover.value("y").shape, (Shape{2, 3}));
    prover.prove({{"x", {6}}, {"to", {3}}});
    EXPECT_EQ(prover.value("y").shape, std::nullopt);
  }
}

TEST(ProvedShapes, AProofThatRunsOutOfWorkIsNotKept) {
  const Model model = made_of_everything();
  ShapeProver prover(model, {});
  const std::map<std::string, Shape> feeds{
      {"x", {4, 2, 3}}, {"y", {2, 3}}, {"c", {}}, {"to_fill", {2}}};
  prover.prove(feeds);
  {
    Limits limits;
    limits.work = 2;
    const Budget budget(limits, {});
    EXPECT_THROW(prover.prove({{"x", {5, 2, 3}}, {"y", {2, 3}}, {"c", {}}, {"to_fill", {2}}}),
                 Error);
  }
  prover.prove(feeds);
  expect_same(prover, prove_shapes(model, feeds, {}));
  EXPECT_EQ(prover.value("sum").shape, (Shape{4, 2, 3}));
}

TEST(ProvedShapes, TypesThatAttributesDecideAreKnownWhereSizesAreNot) {
  const auto type = [](Type of) { return attribute(static_cast<Index>(of)); };
  Graph all = graph(
      {node("NonZero", {"x"}, {"places"}),
       node("Cast", {"places"}, {"narrow"}, {{"to", type(Type::int32)}}),
       node("EyeLike", {"places"}, {"eye"}, {{"dtype", type(Type::float64)}}),
       node("QuantizeLinear", {"x", "scale"}, {"codes"}, {{"output_dtype", type(Type::int8)}}),
       node("ConstantOfShape", {"to_fill"}, {"filled"})},
      {floats("x"), floats("scale"), open("to_fill", 1, Type::int64)}, {floats("filled")});
  Model made = model(std::move(all));
  resolve(made);
  const ProvedShapes proved = prove_shapes(made, {}, {});
  EXPECT_EQ(proved.values.at("narrow").type, tensor_type(Type::int32));
  EXPECT_EQ(proved.values.at("eye").type, tensor_type(Type::float64));
  EXPECT_EQ(proved.values.at("codes").type, tensor_type(Type::int8));
  EXPECT_EQ(proved.values.at("filled").type, tensor_type(Type::float32));
}

}  // namespace
}  // namespace touchstone::testing
