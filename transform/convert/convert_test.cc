// Tests conversion of whole models: subgraphs, functions, shared constants, names and the format
// version; and the refusal, with a rule id, of nodes that the other opset cannot express.
#include "transform/convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "model/scopes.h"
#include "model/testing.h"
#include "reference/interpreter.h"

namespace touchstone::transform {
namespace {

using testing::attribute;
using testing::floats;
using testing::graph_attribute;
using testing::node;
using testing::value;

Attribute axes(std::vector<Index> list) { return attribute(std::move(list)); }

Tensor list(std::vector<Index> items) {
  Tensor made(Type::int64, {static_cast<Index>(items.size())});
  std::copy(items.begin(), items.end(), made.data<Index>());
  return made;
}

// Returns numbers in steps of one.
Tensor from(Shape shape, float first) {
  Tensor made(Type::float32, std::move(shape));
  std::iota(made.data<float>(), made.data<float>() + made.size(), first);
  return made;
}

ValueInfo sized(const std::string& name, std::vector<Index> sizes) {
  std::vector<Dim> dims;
  for (const Index size : sizes) dims.push_back({size, ""});
  return value(name, tensor_type(Type::float32), dims);
}

Model of(Index opset, std::vector<Node> nodes, std::vector<Index> sizes = {1, 1, 3}) {
  return testing::model(
      testing::graph(std::move(nodes), {sized("X", std::move(sizes))}, {floats("Y")}), opset);
}

Converted to(Model model, Index opset) {
  require_valid(model, {});
  return convert(std::move(model), {{"", opset}}, {});
}

// No node is of an unknown version, so conversion from there must be immediate, however far the
// version is.
TEST(Convert, FromAVersionThatNobodyKnows) {
  for (const Index version : {Index{1} << 50, -(Index{1} << 50)}) {
    Model model = of(13, {node("Relu", {"X"}, {"Y"})});
    model.opsets["ai.onnx.ml"] = version;
    auto body = testing::function("F", {"a"}, {"b"}, {node("Relu", {"a"}, {"b"})});
    body->opsets["ai.onnx.ml"] = version;
    model.functions.push_back(body);
    require_valid(model, {});
    const Converted made = convert(std::move(model), {{"ai.onnx.ml", 3}}, {});
    EXPECT_EQ(made.model.opsets.at("ai.onnx.ml"), 3);
    EXPECT_EQ(made.model.functions.at(0)->opsets.at("ai.onnx.ml"), 3);
    EXPECT_TRUE(made.steps.empty());
  }
}

TEST(Convert, AnAttributeBecomesAConstantAndBack) {
  const Converted up = to(of(11, {node("Squeeze", {"X"}, {"Y"}, {{"axes", axes({0})}})}), 13);
  EXPECT_EQ(up.model.opsets.at(""), 13);
  ASSERT_EQ(up.model.graph.nodes.size(), 1U);
  const Node& squeeze = up.model.graph.nodes[0];
  EXPECT_TRUE(squeeze.attributes.empty());
  ASSERT_EQ(squeeze.inputs.size(), 2U);
  EXPECT_EQ(up.model.graph.initializers.at(squeeze.inputs[1]).data<Index>()[0], 0);
  const Converted down = to(up.model, 11);
  EXPECT_EQ(down.model.graph.nodes[0].inputs, std::vector<std::string>{"X"});
  EXPECT_TRUE(down.model.graph.initializers.empty());
  ASSERT_EQ(down.steps.size(), 1U);
  EXPECT_EQ(down.steps[0].from, 13);
  EXPECT_EQ(down.steps[0].to, 11);
  EXPECT_TRUE(down.steps[0].rewritten);
}

TEST(Convert, MetadataStays) {
  const auto about = [](const char* text) {
    return std::make_shared<Metadata>(Metadata{text, {{"key", text}}});
  };
  Model model = of(13, {node("Squeeze", {"X", "axes"}, {"Y"})});
  model.graph.initializers.emplace("axes", list({0}));
  model.graph.initializer_metadata.emplace("axes", about("axes"));
  model.graph.nodes[0].metadata = about("the node");
  model.graph.metadata = about("the graph");
  model.metadata = about("the model");
  model.graph.values = {sized("X", {1, 1, 3}), value("axes", tensor_type(Type::int64))};
  model.model_version = 3;
  const Model made = to(model, 11).model;
  EXPECT_EQ(made.graph.nodes.at(0).metadata, model.graph.nodes[0].metadata);
  EXPECT_EQ(made.graph.metadata, model.graph.metadata);
  EXPECT_EQ(made.metadata, model.metadata);
  EXPECT_EQ(made.model_version, 3);
  EXPECT_TRUE(made.graph.initializer_metadata.empty());  // removed with the initializer
  ASSERT_EQ(made.graph.values.size(), 1U);
  EXPECT_EQ(made.graph.values[0].name, "X");
  EXPECT_EQ(to(made, 13).model.graph.nodes.at(0).metadata, model.graph.nodes[0].metadata);
}

TEST(Convert, AConstantStaysAsLongAsANodeUsesIt) {
  const auto shared = [](std::vector<Node> nodes) {
    Model model = of(13, std::move(nodes));
    model.graph.initializers.emplace("axes", list({0}));
    return model;
  };
  const Node first = node("Squeeze", {"X", "axes"}, {"a"});
  const Node second = node("Unsqueeze", {"a", "axes"}, {"b"});
  Converted made = to(shared({first, second, node("Abs", {"b"}, {"Y"})}), 11);
  EXPECT_TRUE(made.model.graph.initializers.empty());
  made = to(shared({first, node("Gather", {"a", "axes"}, {"t"}), node("Abs", {"a"}, {"Y"})}), 11);
  EXPECT_TRUE(made.model.graph.initializers.contains("axes"));
}

TEST(Convert, WhatANodeMakesOfConstantsIsConstant) {
  const Node constant = node("Constant", {}, {"c"}, {{"value_ints", axes({0})}});
  const Converted made = to(
      of(13, {constant, node("Neg", {"c"}, {"axes"}), node("Squeeze", {"X", "axes"}, {"Y"})}), 11);
  ASSERT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(std::get<std::vector<Index>>(made.model.graph.nodes[0].attributes.at("axes").is),
            std::vector<Index>{0});
}

TEST(Convert, SubgraphsAreConvertedAndNamesStayTheirOwn) {
  const auto branch = [](const std::string& name) {
    return graph_attribute(testing::graph({node("Squeeze", {"X"}, {name}, {{"axes", axes({0})}})},
                                          {}, {floats(name)}));
  };
  Model model = of(11, {node("If", {"flag"}, {"Y"},
                             {{"then_branch", branch("yes")}, {"else_branch", branch("no")}})});
  Tensor flag(Type::boolean, {});
  flag.data<bool>()[0] = true;
  model.graph.initializers.emplace("flag", flag);
  model.graph.initializers.emplace("yes/axes", list({7}));  // the name that the constant would get
  const Converted made = to(std::move(model), 13);
  std::set<std::string> names{"yes/axes"};
  for (const Subgraph& inner : subgraphs_of(made.model.graph.nodes[0])) {
    EXPECT_EQ(inner.graph->nodes[0].inputs.size(), 2U);
    ASSERT_EQ(inner.graph->initializers.size(), 1U);
    EXPECT_TRUE(names.insert(inner.graph->initializers.begin()->first).second);
  }
  EXPECT_EQ(names.size(), 3U);
}

Model with_function(Index opset) {
  auto function = testing::function("Mine", {"x"}, {"y"},
                                    {node("Squeeze", {"x"}, {"y"}, {{"axes", axes({0})}})});
  function->opsets[""] = opset;
  Node call = node("Mine", {"X"}, {"Y"});
  call.domain = "local";
  Model model = of(21, {call});
  model.opsets["local"] = 1;
  model.functions.push_back(function);
  return model;
}

TEST(Convert, AFunctionHoldsItsConstantsInNodes) {
  const Converted made = to(with_function(11), 21);
  const Function& function = *made.model.functions[0];
  EXPECT_EQ(function.opsets.at(""), 21);
  ASSERT_EQ(function.nodes.size(), 2U);
  EXPECT_EQ(function.nodes[0].op, "Constant");
  EXPECT_EQ(function.nodes[1].inputs[1], function.nodes[0].outputs[0]);
  const Converted back = to(made.model, 11);
  EXPECT_EQ(back.model.functions[0]->nodes.size(), 1U);
  EXPECT_EQ(back.model.opsets.at(""), 11);
}

TEST(Convert, WhatAFunctionIsCalledWithIsKnownInIt) {
  Model model = with_function(13);
  model.functions[0]->nodes = {node("Softmax", {"x"}, {"y"}, {{"axis", attribute(Index{1})}})};
  const Converted made = to(std::move(model), 11);
  const std::vector<Node>& nodes = made.model.functions[0]->nodes;
  ASSERT_EQ(nodes.size(), 3U);  // the axis is not the last, so Transpose nodes surround Softmax
  EXPECT_EQ(std::get<std::vector<Index>>(nodes[0].attributes.at("perm").is),
            (std::vector<Index>{0, 2, 1}));
}

TEST(Convert, TheFormatFitsTheOpset) {
  Model model = of(13, {node("Add", {"X", "w"}, {"Y"})});
  model.graph.initializers.emplace("w", testing::tensor({1}));
  const Converted down = to(model, 7);
  EXPECT_EQ(down.model.ir_version, 3);
  ASSERT_EQ(down.model.graph.inputs.size(), 2U);  // that format requires constants to be inputs too
  EXPECT_EQ(down.model.graph.inputs[1].name, "w");
  EXPECT_EQ(to(down.model, 9).model.ir_version, 4);
  EXPECT_EQ(to(model, 28).model.ir_version, 14);
}

TEST(Convert, AFunctionNeedsTheFormatThatHasFunctions) {
  EXPECT_EQ(to(with_function(11), 9).model.ir_version, 8);
}

TEST(Convert, WhatHasNoMeaningIsRefusedByName) {
  const Error error = testing::thrown("convert/Det-11", [] {
    to(of(13, {node("Det", {"X"}, {"Y"})}, {2, 2}), 9);
  });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_EQ(error.message, "Det-11 has no meaning in ai.onnx 10: the operator is not there");
  EXPECT_THAT(error.place, ::testing::HasSubstr("(Det), output 'Y', main graph"));
  EXPECT_EQ(error.help, "convert to ai.onnx 11, where it has one, or change the node first");
}

ValueInfo open(const std::string& name, std::vector<Dim> dims, Type type = Type::float32) {
  return value(name, tensor_type(type), std::move(dims));
}

// Sub-6 takes a B of another shape only where it spreads to that of A.
TEST(Convert, SymbolsThatMayDifferAreNotTakenForOneSize) {
  const auto sub = [](std::vector<Dim> a, std::vector<Dim> b) {
    return testing::model(
        testing::graph({node("Sub", {"A", "B"}, {"Y"})},
                       {open("A", std::move(a)), open("B", std::move(b))}, {floats("Y")}),
        7);
  };
  const Dim n{{}, "n"}, m{{}, "m"}, four{4, ""};
  EXPECT_TRUE(to(sub({n, four}, {n, four}), 6).model.graph.nodes[0].attributes.empty());
  EXPECT_EQ(to(sub({n, m}, {m}), 6).model.graph.nodes[0].attributes.count("broadcast"), 1U);
  testing::thrown("convert/Sub-7", [&] { to(sub({n}, {m}), 6); });
  testing::thrown("convert/Sub-7", [&] { to(sub({n, m}, {m, n}), 6); });
  testing::thrown("convert/Sub-7", [&] { to(sub({n, four}, {m, four}), 6); });
}

// PRelu-6 takes a slope of one element or of one for each channel.
TEST(Convert, ASymbolThatMayBeOneIsNotTakenForOne) {
  Model model = testing::model(
      testing::graph({node("PRelu", {"X", "slope"}, {"Y"})},
                     {sized("X", {2, 2}), open("slope", {Dim{{}, "n"}, Dim{{}, "n"}})},
                     {floats("Y")}),
      7);
  testing::thrown("convert/PRelu-7", [&] { to(model, 6); });
}

// Before opset 7 a single slope may have more dimensions than the input.
TEST(Convert, ASlopeOfALargerRankGetsTheRankOfTheInput) {
  Model model = of(6, {node("PRelu", {"X", "slope"}, {"Y"})}, {3});
  model.graph.initializers.emplace("slope", Tensor(Type::float32, {1, 1}));
  Model made = to(model, 7).model;
  EXPECT_NE(made.graph.nodes.back().inputs.at(1), "slope");
  require_valid(made, {});
  EXPECT_EQ(run(made, {{"X", Tensor(Type::float32, {3})}}).at("Y").tensor().shape(), Shape{3});
  model.graph.initializers.at("slope") = Tensor(Type::float32, {1});
  EXPECT_EQ(to(model, 7).model.graph.nodes.front().inputs.at(1), "slope");
}

TEST(Convert, ASlopeOfUnknownRankIsOneElementOrOneForEachChannel) {
  Model model =
      testing::model(testing::graph({node("PRelu", {"X", "slope"}, {"Y"})},
                                    {sized("X", {1, 2, 1}), floats("slope")}, {floats("Y")}),
                     6);
  require_valid(model, {});
  Model made = to(model, 7).model;
  require_valid(made, {});
  for (const Shape& slope : {Shape{}, Shape{1}, Shape{2}, Shape{1, 1}}) {
    const std::map<std::string, Value> feeds{{"X", from({1, 2, 1}, -2)}, {"slope", from(slope, 3)}};
    EXPECT_TRUE(std::ranges::equal(run(made, feeds).at("Y").tensor().bytes(),
                                   run(model, feeds).at("Y").tensor().bytes()));
  }
}

// From opset 11 on, output_padding is less than the stride or the dilation.
TEST(Convert, AnOutputPaddingPastTheStrideIsRefused) {
  const auto padded = [](Index more, Index stride) {
    Model model = of(10, {node("ConvTranspose", {"X", "W"}, {"Y"},
                               {{"output_padding", axes({more})}, {"strides", axes({stride})}})});
    model.graph.initializers.emplace("W", Tensor(Type::float32, {1, 1, 2}));
    return model;
  };
  EXPECT_EQ(to(padded(1, 2), 11).model.graph.nodes.size(), 1U);
  EXPECT_EQ(to(padded(0, 1), 11).model.graph.nodes.size(), 1U);
  EXPECT_THROW(to(padded(1, 1), 11), Error);
}

TEST(Convert, ATypeThatTheOtherVersionLacksIsRefused) {
  Model model = of(14, {node("Relu", {"X"}, {"Y"})});
  model.graph.inputs[0].type = model.graph.outputs[0].type = tensor_type(Type::int32);
  const Error error = testing::thrown("convert/Relu-14", [&] { to(model, 13); });
  EXPECT_EQ(error.message,
            "Relu-14 has no meaning in ai.onnx 13: Relu-13 takes no tensor(int32) as X");
}

// In steps of float16 they round more often than as one operator.
TEST(Convert, ActivationsAreSpelledOutInWideFloatsAlone) {
  const std::map<std::string, Index> since{
      {"Gelu", 20}, {"HardSwish", 14}, {"Mish", 18}, {"Swish", 24}};
  for (const auto& [op, version] : since) {
    Model model = of(version, {node(op, {"X"}, {"Y"})});
    EXPECT_GT(to(model, version - 1).model.graph.nodes.size(), 1U) << op;
    model.graph.inputs[0].type = model.graph.outputs[0].type = tensor_type(Type::float16);
    EXPECT_THROW(to(model, version - 1), Error) << op;
  }
}

TEST(Convert, AnAttributeAtItsDefaultGoesAndAnyOtherIsRefused) {
  const auto shape_of = [](Index start) {
    return of(15, {node("ArgMax", {"X"}, {"Y"}, {{"select_last_index", attribute(start)}})});
  };
  Model first = shape_of(0), last = shape_of(1);
  first.graph.outputs[0].type = last.graph.outputs[0].type = tensor_type(Type::int64);
  EXPECT_TRUE(to(first, 11).model.graph.nodes[0].attributes.empty());
  testing::thrown("convert/ArgMax-12", [&] { to(last, 11); });
}

TEST(Convert, ADomainOrVersionThatNobodyKnowsIsRefused) {
  const Model model = of(13, {node("Abs", {"X"}, {"Y"})});
  for (const auto& [domain, opset] : std::map<std::string, Index>{{"ai.onnx.ml", 3}, {"", 1000}}) {
    Model valid = model;
    require_valid(valid, {});
    const auto work = [&, d = domain, o = opset] { convert(valid, {{d, o}}, {}); };
    EXPECT_EQ(testing::thrown("", work).kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace touchstone::transform
