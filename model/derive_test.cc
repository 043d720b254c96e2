// Tests of derivative nodes: every malformed request is refused by its rule.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/derive.h"
#include "model/testing.h"

namespace touchstone::testing {
namespace {

// a = Relu(X), and Y = the derivative of `of` by `by`, given `inputs`.
Model slope(std::vector<std::string> by, const std::string& of, std::vector<std::string> inputs,
            std::vector<std::string> outputs = {"Y"}) {
  Node asked = node("Gradient", std::move(inputs), std::move(outputs),
                    {{"xs", attribute(std::move(by))}, {"y", attribute(of)}});
  asked.domain = "ai.onnx.preview.training";
  Model made = chain({node("Relu", {"X"}, {"a"}), node("Relu", {"a"}, {"b"}), asked});
  made.opsets["ai.onnx.preview.training"] = 1;
  return made;
}

TEST(Derive, WhatItsGraphMakesOfTheNamedValuesIsSound) {
  Model asked = slope({"X"}, "b", {"X"});
  EXPECT_NO_THROW(require_valid(asked, {}));
}

TEST(Derive, WhatIsAskedWronglyIsRefused) {
  for (const Model& asked : {slope({"X", "X"}, "b", {"X", "X"}), slope({"X"}, "b", {"X", "X"}),
                             slope({"a"}, "Y", {"a"}), slope({"X"}, "b", {"X"}, {"Y", "Z"})}) {
    thrown("model/derivative", [&] {
      Model again = asked;
      require_valid(again, {});
    });
  }
}

// Relu(Relu( .. (X))): a chain of `count` nodes.
std::vector<Node> relus(int count) {
  std::vector<Node> nodes;
  for (int k = 0; k < count; ++k)
    nodes.push_back(
        node("Relu", {k == 0 ? "X" : "v" + std::to_string(k)}, {"v" + std::to_string(k + 1)}));
  return nodes;
}

TEST(Derive, ACancelIsSeenAmongTheNodes) {
  std::vector<Node> nodes = relus(300);
  Node asked = node(
      "Gradient", {"X"}, {"Y"},
      {{"xs", attribute(std::vector<std::string>{"X"})}, {"y", attribute(std::string("v300"))}});
  asked.domain = "ai.onnx.preview.training";
  nodes.push_back(asked);
  Model made = chain(std::move(nodes));
  made.opsets["ai.onnx.preview.training"] = 1;
  resolve(made);
  EXPECT_TRUE(stops_when_cancelled([&] { derive(made.graph, {}); }));
}

TEST(Check, ACancelIsSeenAmongTheNodes) {
  std::vector<Node> nodes = relus(300);
  nodes.push_back(node("Relu", {"v300"}, {"Y"}));
  Model made = chain(std::move(nodes));
  EXPECT_TRUE(stops_when_cancelled([&] { resolve(made); }));
  resolve(made);
  EXPECT_TRUE(stops_when_cancelled([&] { check(made, {}); }));
}

Node slope_of(const std::string& of, const std::string& as) {
  Node made = node("Gradient", {"X"}, {as},
                   {{"xs", attribute(std::vector<std::string>{"X"})}, {"y", attribute(of)}});
  made.domain = "ai.onnx.preview.training";
  return made;
}

Model with_slopes(std::vector<Node> nodes) {
  Model made = chain(std::move(nodes));
  made.opsets["ai.onnx.preview.training"] = 1;
  return made;
}

// The derivative of the derivative ... of X * X, with nodes in topological order or reversed.
Model slopes_of_slopes(int count, bool backwards) {
  std::vector<Node> nodes{node("Mul", {"X", "X"}, {"s0"})};
  for (int k = 0; k < count; ++k)
    nodes.push_back(
        slope_of("s" + std::to_string(k), k + 1 == count ? "Y" : "s" + std::to_string(k + 1)));
  if (backwards) std::reverse(nodes.begin(), nodes.end());
  return with_slopes(std::move(nodes));
}

TEST(Derive, AsManyDerivativesOfDerivativesAsGraphsNest) {
  Limits limits;
  limits.graph_depth = 2;
  for (const bool backwards : {false, true}) {
    Model two = slopes_of_slopes(2, backwards), three = slopes_of_slopes(3, backwards);
    EXPECT_NO_THROW(require_valid(two, limits));
    EXPECT_NE(thrown("limit/graph_depth", [&] { require_valid(three, limits); }).place, "");
  }
}

TEST(Derive, ALongChainOfDerivativesNeedsNoStack) {
  Model many = slopes_of_slopes(60'000, true);
  thrown("limit/graph_depth", [&] { require_valid(many, {}); });
}

// Each derivative contains the previous one twice, so the size doubles.
TEST(Derive, NodesThatAreMadeAreCounted) {
  std::vector<Node> nodes{node("Mul", {"X", "X"}, {"y0"})};
  for (int k = 0; k < 20; ++k) {
    const std::string y = "y" + std::to_string(k), s = "s" + std::to_string(k);
    nodes.push_back(slope_of(y, s));
    nodes.push_back(node("Mul", {s, y}, {k == 19 ? "Y" : "y" + std::to_string(k + 1)}));
  }
  Limits limits;
  limits.nodes = 20'000;
  Model made = with_slopes(std::move(nodes));
  EXPECT_NE(thrown("limit/nodes", [&] { require_valid(made, limits); }).place, "");
}

}  // namespace
}  // namespace touchstone::testing
