// Binding of nodes to signatures and functions, and the errors of unknown ones.
#include "model/testing.h"

namespace touchstone::testing {
namespace {

Model calls(std::vector<std::pair<std::string, std::vector<std::string>>> table) {
  Model made = chain({node(table.front().first, {"X"}, {"Y"})});
  made.graph.nodes[0].domain = "local";
  made.opsets["local"] = 1;
  for (const auto& [name, callees] : table) {
    std::vector<Node> nodes{node("Relu", {"x"}, {"v0"})};
    for (std::size_t k = 0; k < callees.size(); ++k) {
      nodes.push_back(node(callees[k], {"v" + std::to_string(k)}, {"v" + std::to_string(k + 1)}));
      nodes.back().domain = "local";
    }
    made.functions.push_back(
        function(name, {"x"}, {"v" + std::to_string(callees.size())}, std::move(nodes)));
  }
  return made;
}

TEST(Resolve, TheOpsetDecidesTheVersion) {
  for (const auto& [opset, since] : {std::pair<Index, int>{6, 6}, {12, 6}, {13, 13}, {21, 14}}) {
    Model made = chain({node("Relu", {"X"}, {"Y"})});
    made.opsets[""] = opset;
    resolve(made);
    ASSERT_NE(made.graph.nodes[0].signature, nullptr);
    EXPECT_EQ(made.graph.nodes[0].signature->since, since) << opset;
  }
}

TEST(Resolve, UnknownOperatorsAreNamedTogether) {
  Model odd = chain({node("Nothing", {"X"}, {"a"}), node("Nowhere", {"a"}, {"Y"})});
  odd.graph.nodes[1].domain = "far.away";
  const Error error = thrown("model/operator-unknown", [&] { resolve(odd); });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_STREQ(error.what(), "unknown: Nothing in opset 21, far.away.Nowhere");
}

// Each unknown operator is looked up by hash: a linear search would be quadratic here.
TEST(Resolve, OfManyUnknownOperatorsSomeAreNamed) {
  constexpr std::size_t many = 200'000;
  std::vector<Node> nodes;
  for (std::size_t k = 0; k < many; ++k)
    nodes.push_back(node("U" + std::to_string(k), {"X"}, {"y" + std::to_string(k)}));
  Model odd = chain(std::move(nodes));
  const Error error = thrown("model/operator-unknown", [&] { resolve(odd); });
  EXPECT_TRUE(error.message.starts_with("unknown: U0 in opset 21, U1 in opset 21, "));
  EXPECT_TRUE(error.message.ends_with(", U99 in opset 21 and 199900 more")) << error.message;
  EXPECT_EQ(error.place, "node #0 (U0), output 'y0', main graph");
}

std::string help_for(const char* domain, const char* op, Index opset) {
  Model odd = chain({node(op, {"X"}, {"Y"})});
  odd.graph.nodes[0].domain = domain;
  odd.opsets[domain] = opset;
  return thrown("model/operator-unknown", [&] { resolve(odd); }).help;
}

TEST(Resolve, TheHelpForAnUnknownOperatorSaysWhy) {
  EXPECT_EQ(help_for("", "Sofmax", 13),
            "did you mean 'Softmax'? Else check the domain and the imported version");
  EXPECT_EQ(help_for("", "Gelu", 12), "Gelu came with opset 20: import that, or a newer one");
  EXPECT_TRUE(help_for("com.microsoft", "FusedMatMul", 1).find("ORT_ENABLE_BASIC") !=
              std::string::npos);
  EXPECT_EQ(help_for("com.microsofter", "FusedMatMul", 1),
            "the standard has no domain 'com.microsofter': export without its operators, or add "
            "functions that define them");
  EXPECT_EQ(help_for("", "Frobnicate", 13),
            "check the spelling, the domain and the imported version");
}

TEST(Resolve, AnOperatorThatIsNotInTheOpsetYet) {
  Model early = chain({node("Gelu", {"X"}, {"Y"})});
  early.opsets[""] = 12;
  EXPECT_STREQ(thrown("model/operator-unknown", [&] { resolve(early); }).what(),
               "unknown: Gelu in opset 12");
}

TEST(Resolve, VersionsAboveTheNewestAreRefused) {
  Model late = chain({node("Relu", {"X"}, {"Y"})});
  late.opsets[""] = newest_opset("");
  resolve(late);
  late.opsets[""] = newest_opset("") + 1;
  EXPECT_EQ(thrown("model/version-unknown", [&] { resolve(late); }).kind, ErrorKind::unsupported);
}

TEST(Resolve, DomainsThatAreUsedAreImported) {
  Model missing = chain({node("Relu", {"X"}, {"Y"})});
  missing.opsets = {{"ai.onnx.ml", 3}, {"never.used", 999}};
  thrown("model/opset-missing", [&] { resolve(missing); });
  missing.opsets[""] = 21;
  resolve(missing);  // unused imports are harmless
}

TEST(Resolve, SubgraphsAreBoundAndOtherCopiesStay) {
  const Graph branch = graph({node("Relu", {"X"}, {"b"})}, {}, {floats("b")});
  Model made = chain(
      {node("If", {"X"}, {"Y"},
            {{"then_branch", graph_attribute(branch)}, {"else_branch", graph_attribute(branch)}})});
  const Model copy = made;
  resolve(made);
  const auto inner = [](const Model& held) {
    return std::get<std::shared_ptr<const Graph>>(
        held.graph.nodes[0].attributes.at("then_branch").is);
  };
  EXPECT_NE(inner(made)->nodes[0].signature, nullptr);
  EXPECT_EQ(inner(copy)->nodes[0].signature, nullptr);
}

TEST(Resolve, AFunctionGoesBeforeAnOperatorOfItsName) {
  Model made = chain({node("Relu", {"X"}, {"Y"})});
  made.functions.push_back(function("Relu", {"x"}, {"y"}, {node("Abs", {"x"}, {"y"})}));
  made.functions[0]->domain = "";
  made.functions[0]->opsets = {{"", 21}};
  resolve(made);
  EXPECT_EQ(made.graph.nodes[0].signature, nullptr);
  EXPECT_EQ(made.graph.nodes[0].function, made.functions[0]);
}

TEST(Resolve, FunctionsHaveImportsOfTheirOwn) {
  Model made = calls({{"F", {}}});
  made.functions[0]->opsets[""] = 6;
  resolve(made);
  EXPECT_EQ(made.functions[0]->nodes[0].signature->since, 6);
  made.functions[0]->opsets.erase("");
  thrown("model/opset-missing", [&] { resolve(made); });
}

TEST(Resolve, OverloadsAreFunctionsApart) {
  Model made = calls({{"F", {}}, {"G", {}}});
  made.functions[1]->name = "F";
  made.functions[1]->overload = "other";
  made.graph.nodes[0].overload = "other";
  resolve(made);
  EXPECT_EQ(made.graph.nodes[0].function, made.functions[1]);
}

TEST(Resolve, RecursionIsRefusedWithItsPath) {
  Model made = calls({{"F", {"G"}}, {"G", {"H"}}, {"H", {"G"}}});
  const std::string says = thrown("model/function-recursion", [&] { resolve(made); }).what();
  EXPECT_EQ(says, "a function calls itself: local.G -> local.H -> local.G");
  Model self = calls({{"F", {"F"}}});
  thrown("model/function-recursion", [&] { resolve(self); });
}

TEST(Resolve, CallsThatMeetAgainAreNoRecursion) {
  Model made = calls({{"F", {"G", "H"}}, {"G", {"K"}}, {"H", {"K", "K"}}, {"K", {}}});
  resolve(made);
  EXPECT_EQ(check(made, Limits()).size(), 0u);
}

std::vector<std::pair<std::string, std::vector<std::string>>> one_after_the_other(int length) {
  std::vector<std::pair<std::string, std::vector<std::string>>> table;
  for (int k = 1; k < length; ++k)
    table.push_back({"F" + std::to_string(k), {"F" + std::to_string(k + 1)}});
  table.push_back({"F" + std::to_string(length), {}});
  return table;
}

TEST(Resolve, ALongChainOfCallsNeedsNoStack) {
  Model most = calls(one_after_the_other(1000));
  resolve(most);
  const std::vector<Error> errors = check(most, Limits());
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].rule, "limit/graph_depth");
  for (const int length : {1001, 20'000}) {
    Model made = calls(one_after_the_other(length));
    try {
      resolve(made);
      FAIL() << length;
    } catch (const Error& error) {
      EXPECT_EQ(error.rule, "limit/graph_depth");
      EXPECT_EQ(error.kind, ErrorKind::limit);
    }
  }
}

}  // namespace
}  // namespace touchstone::testing
