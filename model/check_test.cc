// Names, order and types in graphs: for each rule a small model that breaks it.
#include <gmock/gmock.h>

#include "model/testing.h"

namespace touchstone::testing {
namespace {

TEST(Check, ASoundModelHasNoBreach) {
  expect_sound(chain({node("Relu", {"X"}, {"a"}), node("Add", {"a", "X"}, {"Y"})}));
}

TEST(Check, ACycleIsReportedByItsPath) {
  Model cyclic = chain({node("Add", {"X", "c"}, {"a"}), node("Relu", {"a"}, {"b"}),
                        node("Relu", {"b"}, {"c"}), node("Relu", {"c"}, {"Y"})});
  cyclic.graph.nodes[0].name = "first";
  const Error error = first_breach("model/cycle", cyclic);
  EXPECT_STREQ(error.what(),
               "each of these nodes needs the next: 'first' -> #2 (Relu) -> #1 (Relu) -> 'first'");
  EXPECT_EQ(error.place, "node 'first' (Add), output 'a', main graph");
}

TEST(Check, ANodeThatNeedsItselfIsACycle) {
  first_breach("model/cycle", chain({node("Add", {"X", "Y"}, {"Y"})}));
}

TEST(Check, ACycleThroughASubgraphIsFound) {
  const Graph branch = graph({node("Relu", {"Y"}, {"inner"})}, {}, {floats("inner")});
  Model cyclic = model(graph(
      {node("If", {"B"}, {"a"},
            {{"then_branch", graph_attribute(branch)}, {"else_branch", graph_attribute(branch)}}),
       node("Relu", {"a"}, {"Y"})},
      {value("B", tensor_type(Type::boolean))}, {floats("Y")}));
  // Reported inside the subgraph, which sees only that the name is defined later.
  first_breach("model/order", cyclic);
}

TEST(Check, AVeryLongCycleNeedsNoStack) {
  std::vector<Node> nodes;
  constexpr int count = 200'000;
  for (int k = 0; k < count; ++k) {
    nodes.push_back(
        node("Relu", {"v" + std::to_string((k + 1) % count)}, {"v" + std::to_string(k)}));
  }
  nodes.push_back(node("Relu", {"v0"}, {"Y"}));
  first_breach("model/cycle", chain(std::move(nodes)));
}

TEST(Check, UseBeforeDefinition) {
  const Error error =
      first_breach("model/order", chain({node("Relu", {"a"}, {"Y"}), node("Relu", {"X"}, {"a"})}));
  EXPECT_STREQ(error.what(), "the value 'a' is used before it is defined");
}

TEST(Check, UseOfWhatNobodyDefines) {
  first_breach("model/undefined-name", chain({node("Relu", {"nobody"}, {"Y"})}));
}

TEST(Check, AValueIsDefinedOnce) {
  first_breach("model/ssa", chain({node("Relu", {"X"}, {"Y"}), node("Relu", {"X"}, {"Y"})}));
  Model twice = chain({node("Relu", {"X"}, {"Y"})});
  twice.graph.inputs.push_back(floats("X"));
  first_breach("model/ssa", twice);
}

Model with_branch(const Graph& branch) {
  return model(graph({node("Relu", {"X"}, {"a"}), node("If", {"B"}, {"Y"},
                                                       {{"then_branch", graph_attribute(branch)},
                                                        {"else_branch", graph_attribute(branch)}})},
                     {floats("X"), value("B", tensor_type(Type::boolean))}, {floats("Y")}));
}

TEST(Check, ASubgraphSeesNamesAroundItAndMayNotRedefineThem) {
  expect_sound(with_branch(graph({node("Relu", {"a"}, {"b"})}, {}, {floats("b")})));
  const Error error = first_breach(
      "model/ssa", with_branch(graph({node("Relu", {"a"}, {"X"})}, {}, {floats("X")})));
  EXPECT_EQ(error.place, "node #0 (Relu), output 'X', graph If_1/else_branch");
}

TEST(Check, ASubgraphProducesItsOutputs) {
  const Error error =
      first_breach("model/output-undefined", with_branch(graph({}, {}, {floats("a")})));
  EXPECT_EQ(error.place, "output 'a', graph If_1/else_branch");
}

TEST(Check, OutputsAreProduced) {
  first_breach("model/output-undefined", chain({node("Relu", {"X"}, {"a"})}));
}

TEST(Check, InputsAndOutputsHaveNames) {
  Model nameless = chain({node("Relu", {"X"}, {"Y"})});
  nameless.graph.outputs.push_back(floats(""));
  first_breach("model/name-empty", nameless);
}

TEST(Check, InputsOfTheMainGraphHaveTypes) {
  Model open = chain({node("Relu", {"X"}, {"Y"})});
  open.graph.inputs[0].type.reset();
  first_breach("model/input-type", open);
}

TEST(Check, DimensionsOfInputsAreNotNegative) {
  Model odd = chain({node("Relu", {"X"}, {"Y"})});
  odd.graph.inputs[0].shape = {Dim{-2, ""}};
  first_breach("model/tensor-shape", odd);
}

TEST(Check, BeforeVersionFourInitializersAreInputs) {
  Model old = chain({node("Add", {"X", "w"}, {"Y"})});
  old.graph.initializers.emplace("w", tensor({1}));
  expect_sound(old);
  old.ir_version = 3;
  first_breach("model/initializer-input", old);
  old.graph.inputs.push_back(floats("w"));
  expect_sound(old);
}

// Initializers are looked up among the inputs by hash: a linear search would be quadratic here.
TEST(Check, ManyInputsAndInitializers) {
  Model made = chain({node("Relu", {"X"}, {"Y"})});
  for (int k = 0; k < 50'000; ++k) {
    made.graph.inputs.push_back(floats("an_input_with_a_name_" + std::to_string(k)));
    made.graph.initializers.emplace("an_input_without_" + std::to_string(k), tensor({1}));
  }
  made.graph.initializers.emplace("an_input_with_a_name_7", tensor({1}));
  expect_sound(made);
  made.graph.initializers.at("an_input_with_a_name_7") = Tensor(Type::int8, {1});
  first_breach("model/initializer-type", made);
}

TEST(Check, AnInitializerFitsTheInputOfItsName) {
  Model odd = chain({node("Add", {"X", "w"}, {"Y"})});
  odd.graph.initializers.emplace("w", tensor({1, 2}));
  odd.graph.inputs.push_back(value("w", tensor_type(Type::float32), std::vector{Dim{2, ""}}));
  expect_sound(odd);
  odd.graph.inputs.back().shape = {Dim{3, ""}};
  first_breach("model/initializer-type", odd);
}

TEST(Check, TypesAreThoseOfTheSignature) {
  Model wrong = chain({node("Relu", {"X"}, {"Y"})});
  wrong.graph.inputs[0].type = tensor_type(Type::string);
  EXPECT_THAT(std::string(first_breach("model/type", wrong).what()),
              ::testing::HasSubstr("input 0 ('X') is tensor(string)"));
}

TEST(Check, EqualTypesAreEqual) {
  Model mixed = chain({node("Add", {"X", "Z"}, {"Y"})});
  mixed.graph.inputs.push_back(value("Z", tensor_type(Type::float64)));
  EXPECT_STREQ(
      first_breach("model/type", mixed).what(),
      "input 1 ('B') is tensor(double), but input 0 ('A') of the same type T is tensor(float)");
}

TEST(Check, DeclaredTypesAreTrue) {
  Model lying = chain({node("Relu", {"X"}, {"a"}), node("Relu", {"a"}, {"Y"})});
  lying.graph.values.push_back(value("a", tensor_type(Type::float64)));
  first_breach("model/type-declared", lying);
  lying.graph.values.clear();
  lying.graph.outputs[0].type = tensor_type(Type::float64);
  first_breach("model/type-declared", lying);
}

TEST(Check, TypesFlowThroughNodes) {
  // The first output is bool for any input, so the second node cannot take it.
  first_breach("model/type", chain({node("Equal", {"X", "X"}, {"a"}), node("Relu", {"a"}, {"Y"})}));
}

TEST(Check, TheWorstBreachComesFirst) {
  Model bad = chain({node("Relu", {"X"}, {"Y"}, {{"odd", attribute(Index{1})}}),
                     node("Relu", {"nobody"}, {"b"})});
  resolve(bad);
  const std::vector<Error> errors = check(bad, Limits());
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].rule, "model/undefined-name");
  EXPECT_EQ(errors[1].rule, "model/attribute-unknown");
}

// A function of many attributes, called by many nodes that give none of them.
TEST(Check, EndsWhereNothingMoreIsReported) {
  auto body = function("F", {"a"}, {"b"}, {node("Relu", {"a"}, {"b"})});
  for (int k = 0; k < 20'000; ++k) body->attributes.push_back("a" + std::to_string(k));
  std::vector<Node> calls;
  for (int k = 0; k < 20'000; ++k) {
    calls.push_back(node("F", {"X"}, {"v" + std::to_string(k)}));
    calls.back().domain = body->domain;
  }
  Model made = chain(std::move(calls));
  made.graph.outputs[0].name = "v0";
  made.functions.push_back(body);
  made.opsets[body->domain] = 1;
  resolve(made);
  EXPECT_EQ(check(made, Limits()).size(), 1000u);
}

TEST(Check, AttributesOfAFunctionAreLookedUp) {
  constexpr int many = 30'000;
  auto body = function("F", {"a"}, {"v0"}, {});
  Node call = node("F", {"X"}, {"Y"});
  call.domain = body->domain;
  for (int k = 0; k < many; ++k) {
    const std::string name = "a" + std::to_string(k);
    body->attributes.push_back(name);
    call.attributes.emplace(name, attribute(1.0F));
    body->nodes.push_back(
        node("LeakyRelu", {"a"}, {"v" + std::to_string(k)}, {{"alpha", reference(float{}, name)}}));
  }
  Model made = chain({call});
  made.functions.push_back(body);
  made.opsets[body->domain] = 1;
  expect_sound(made);
  made.functions[0]->attributes.back() = "other";
  first_breach("model/attribute-unknown", made);
}

TEST(Check, ABodyOfAFunctionIsCheckedOnItsOwn) {
  Model outside = chain({node("F", {"X"}, {"Y"})});
  outside.graph.nodes[0].domain = "local";
  outside.opsets["local"] = 1;
  outside.functions.push_back(function("F", {"x"}, {"y"}, {node("Add", {"x", "X"}, {"y"})}));
  const Error error = first_breach("model/undefined-name", outside);  // X is the main graph's
  EXPECT_EQ(error.place, "node #0 (Add), output 'y', graph local.F");
}

}  // namespace
}  // namespace touchstone::testing
