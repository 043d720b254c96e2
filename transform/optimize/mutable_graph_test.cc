// Tests that MutableGraph tracks makers and uses of values, known shapes and assumptions while a
// graph changes.
#include "transform/optimize/mutable_graph.h"

#include <gtest/gtest.h>

#include "model/testing.h"

namespace touchstone::transform {
namespace {

using testing::node;

MutableGraph graph_of(std::vector<Node> nodes) {
  Model model = testing::chain(std::move(nodes));
  require_valid(model, {});
  return MutableGraph(std::move(model), {});
}

TEST(MutableGraph, CountsUses) {
  MutableGraph graph = graph_of({node("Abs", {"X"}, {"a"}), node("Add", {"a", "a"}, {"Y"})});
  EXPECT_EQ(graph.uses("X"), 1);
  EXPECT_EQ(graph.uses("a"), 2);
  EXPECT_EQ(graph.uses("Y"), 1);
  graph.erase(*graph.maker("Y"));
  EXPECT_EQ(graph.uses("a"), 0);
  EXPECT_FALSE(graph.maker("Y"));
}

TEST(MutableGraph, AValueTakesAnothersPlace) {
  MutableGraph graph = graph_of(
      {node("Abs", {"X"}, {"a"}), node("Identity", {"a"}, {"b"}), node("Add", {"a", "b"}, {"Y"})});
  EXPECT_TRUE(graph.replace_value("b", "a"));
  graph.erase(*graph.maker("b"));
  const Model made = graph.finish();
  EXPECT_EQ(made.graph.nodes[1].inputs, std::vector<std::string>({"a", "a"}));
  EXPECT_EQ(made.graph.nodes[1].index, 1);
}

TEST(MutableGraph, AnOutputKeepsItsNameAndItsMakerTakesIt) {
  MutableGraph graph = graph_of(
      {node("Abs", {"X"}, {"a"}), node("Neg", {"a"}, {"n"}), node("Identity", {"a"}, {"Y"})});
  const MutableGraph::Place identity = *graph.maker("Y");
  EXPECT_TRUE(graph.replace_value("Y", "a"));
  graph.erase(identity);
  EXPECT_EQ((*graph.maker("Y"))->op, "Abs");
  const Model made = graph.finish();
  EXPECT_EQ(made.graph.nodes[1].inputs, std::vector<std::string>({"Y"}));
}

TEST(MutableGraph, AnInputThatIsAnOutputStaysBothApart) {
  MutableGraph graph = graph_of({node("Identity", {"X"}, {"Y"})});
  EXPECT_FALSE(graph.replace_value("Y", "X"));
}

TEST(MutableGraph, FreshNamesAreNobodys) {
  MutableGraph graph = graph_of({node("Abs", {"X"}, {"a"}), node("Neg", {"a"}, {"Y"})});
  EXPECT_EQ(graph.fresh("a"), "a_2");
  EXPECT_EQ(graph.fresh("a"), "a_3");
  EXPECT_EQ(graph.fresh("c"), "c");
}

TEST(MutableGraph, KnowsTypesAndShapesOfWhatCameUp) {
  MutableGraph graph = graph_of({node("Abs", {"X"}, {"a"}), node("Neg", {"a"}, {"Y"})});
  ASSERT_NE(graph.known("a"), nullptr);
  EXPECT_EQ(graph.known("a")->type, std::optional(tensor_type(Type::float32)));
  Node more = node("Abs", {"a"}, {"b"});
  graph.insert(*graph.maker("Y"), more);
  EXPECT_EQ(graph.known("b"), nullptr);
  graph.forget_shapes();
  EXPECT_NE(graph.known("b"), nullptr);
}

// Returns the known first size of Y = op(X, ...) with X of the shape [N, M, 4].
std::optional<Index> last_size(std::vector<Node> nodes, std::map<std::string, Tensor> constants) {
  Model model = testing::chain(std::move(nodes));
  model.graph.inputs[0].shape = {{Dim{{}, "N"}, Dim{{}, "M"}, Dim{4, ""}}};
  model.graph.initializers = std::move(constants);
  require_valid(model, {});
  return MutableGraph(std::move(model), {}).known("Y")->size(0);
}

Tensor whole_numbers(std::vector<Index> values) {
  Tensor list(Type::int64, {static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), list.data<Index>());
  return list;
}

// A size that most feeds have is not a known size.
TEST(MutableGraph, DoesNotTakeASliceOfAtMostTenForTen) {
  const auto sliced = [](Index most) {
    return last_size({node("Slice", {"X", "from", "to"}, {"Y"})},
                     {{"from", whole_numbers({0})}, {"to", whole_numbers({most})}});
  };
  for (const Index most : {2, 10, 500, 5000}) EXPECT_FALSE(sliced(most)) << most;
  EXPECT_EQ(last_size({node("Transpose", {"X"}, {"Y"})}, {}), 4);
}

// A chain over X and b, whose lengths the file leaves open: equal, or one of them 1.
Model chain_of_open_lengths(std::vector<Node> nodes) {
  Model model = testing::chain(std::move(nodes));
  model.graph.inputs[0].shape = {{Dim{{}, "N"}}};
  model.graph.inputs.push_back(testing::value("b", tensor_type(Type::float32), {{Dim{{}, "M"}}}));
  require_valid(model, {});
  return model;
}

TEST(MutableGraph, DoesNotTakeTwoSizesForOneWhereOneMayBe1) {
  Model model =
      chain_of_open_lengths({node("Add", {"X", "b"}, {"a"}), node("Add", {"a", "X"}, {"Y"})});
  PassOptions options;
  options.checked = true;
  MutableGraph graph(model, options);
  EXPECT_FALSE(same_size(*graph.known("X"), 0, *graph.known("a"), 0));
  EXPECT_TRUE(same_size(*graph.known("Y"), 0, *graph.known("a"), 0));
  // Most drawn sizes violate a rule here. Unverified, no fact may be derived from the remaining
  // ones.
  MutableGraph unchecked(std::move(model), {});
  EXPECT_FALSE(same_size(*unchecked.known("Y"), 0, *unchecked.known("a"), 0));
}

// A decoder's mask has the length of past plus present; for drawn sizes that holds only by chance.
TEST(MutableGraph, FedSizesCountWhereDrawnOnesAgree) {
  Model model = chain_of_open_lengths({node("Add", {"X", "b"}, {"Y"})});
  PassOptions options;
  options.checked = true;
  options.fed = {{{"X", Shape{1}}, {"b", Shape{5}}}};
  MutableGraph graph(model, options);
  EXPECT_TRUE(same_size(*graph.known("Y"), 0, *graph.known("b"), 0));
  EXPECT_FALSE(same_size(*graph.known("Y"), 0, *graph.known("X"), 0));
  options.fed.push_back({{"X", Shape{5}}, {"b", Shape{1}}});
  MutableGraph both(model, options);
  EXPECT_FALSE(same_size(*both.known("Y"), 0, *both.known("b"), 0));
}

TEST(MutableGraph, AssumptionsHoldWhereTheDefinitionsProveThem) {
  Model model = chain_of_open_lengths({node("Add", {"X", "b"}, {"Y"})});
  Assumed assumed = without_large_constants(model);
  assumed.all = {{"Y", 0, 4, "", 0}, {"Y", std::nullopt, 1, "", 0}, {"Y", 0, 0, "X", 0}};
  ShapeProver prover(assumed.model, Limits());
  EXPECT_TRUE(hold(assumed, prover, {{"X", Shape{4}}, {"b", Shape{1}}}));
  EXPECT_FALSE(hold(assumed, prover, {{"X", Shape{5}}, {"b", Shape{1}}}));
  EXPECT_FALSE(hold(assumed, prover, {{"X", Shape{1}}, {"b", Shape{4}}}));
  EXPECT_FALSE(hold(assumed, prover, {{"X", Shape{3}}, {"b", Shape{4}}}));  // violates a rule
}

}  // namespace
}  // namespace touchstone::transform
