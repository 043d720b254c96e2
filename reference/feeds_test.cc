// Checks of feeds against declarations, and sparse initializers made dense.
#include "reference/feeds.h"

#include "reference/testing.h"

namespace touchstone::testing {
namespace {

[[maybe_unused]] const auto* const every_rule =
    ::testing::AddGlobalTestEnvironment(new EveryRuleIsBroken("feed/"));

Graph taking(std::vector<ValueInfo> inputs) { return graph({}, std::move(inputs), {}); }

ValueInfo shaped(const std::string& name, std::vector<Dim> dims) {
  return value(name, tensor_type(Type::float32), std::move(dims));
}

Error refused(const std::string& rule, const Graph& graph,
              const std::map<std::string, Value>& feeds) {
  const Error error = thrown(rule, [&] { check_feeds(graph, feeds); });
  EXPECT_EQ(error.kind, ErrorKind::usage);
  return error;
}

TEST(Feeds, NamesAreThoseOfInputs) {
  const Graph graph = taking({floats("a"), floats("b")});
  EXPECT_STREQ(refused("feed/name", graph, {{"c", tensor({})}}).what(),
               "there is no input 'c'; there are 'a', 'b'");
}

TEST(Feeds, EveryInputWithoutADefaultIsFed) {
  Graph graph = taking({floats("a")});
  const Error error = refused("feed/missing", graph, {});
  EXPECT_EQ(error.place, "input 'a', main graph");
  refused("feed/missing", graph, {{"a", Value()}});
  graph.initializers.emplace("a", tensor({1}));
  EXPECT_NO_THROW(check_feeds(graph, {}));
}

TEST(Feeds, TypesAreThoseDeclared) {
  const Graph graph = taking({floats("a")});
  EXPECT_STREQ(refused("feed/type", graph, {{"a", scalar(Index{1})}}).what(),
               "'a' is tensor(int64), but is declared as tensor(float)");
  refused("feed/type", graph, {{"a", Sequence{tensor_type(Type::float32), {}}}});
}

TEST(Feeds, SizesAreThoseDeclared) {
  const Graph graph = taking({shaped("a", {Dim{2, ""}})});
  EXPECT_NO_THROW(check_feeds(graph, {{"a", tensor({1, 2})}}));
  EXPECT_STREQ(refused("feed/shape", graph, {{"a", tensor({1})}}).what(),
               "'a' has shape [1], but is declared as [2]");
  const Graph two = taking({shaped("a", {Dim{}, Dim{{}, "n"}})});
  EXPECT_STREQ(refused("feed/shape", two, {{"a", tensor({1})}}).what(),
               "'a' has shape [1], but is declared as [?,n]");
}

TEST(Feeds, ASymbolHasOneSize) {
  const Graph graph =
      taking({shaped("a", {Dim{{}, "n"}}), shaped("b", {Dim{{}, "n"}}), shaped("c", {Dim{}})});
  EXPECT_NO_THROW(
      check_feeds(graph, {{"a", tensor({1})}, {"b", tensor({2})}, {"c", tensor({1, 2})}}));
  EXPECT_STREQ(
      refused("feed/shape", graph, {{"a", tensor({1})}, {"b", tensor({1, 2})}, {"c", tensor({})}})
          .what(),
      "'b' has shape [2], so n is 2, but 'a' says 1");
}

TEST(Feeds, ShapesAloneAreThoseDeclared) {
  const Graph graph =
      taking({shaped("a", {Dim{2, ""}, Dim{{}, "n"}}), shaped("b", {Dim{{}, "n"}})});
  EXPECT_NO_THROW(check_shapes(graph, {{"a", {2, 3}}, {"b", {3}}}));
  EXPECT_NO_THROW(check_shapes(graph, {{"b", {3}}}));
  const auto refuses = [&](const std::string& rule, const std::map<std::string, Shape>& shapes) {
    EXPECT_EQ(thrown(rule, [&] { check_shapes(graph, shapes); }).kind, ErrorKind::usage);
  };
  refuses("feed/shape", {{"a", {3, 3}}});
  refuses("feed/shape", {{"a", {2}}});
  refuses("feed/shape", {{"a", {2, 3}}, {"b", {4}}});
  refuses("feed/name", {{"c", {2}}});
}

SparseTensor sparse(Tensor values, std::vector<Index> indices, Shape dims, Shape shape) {
  SparseTensor made{std::move(values), Tensor(Type::int64, std::move(dims)), std::move(shape)};
  std::copy(indices.begin(), indices.end(), made.indices.data<Index>());
  return made;
}

TEST(Dense, PlacesValuesByEitherFormOfIndices) {
  const Tensor linear = dense(sparse(tensor({7, 8}), {1, 5}, Shape{2}, Shape{2, 3}));
  const Tensor rows = dense(sparse(tensor({7, 8}), {0, 1, 1, 2}, Shape{2, 2}, Shape{2, 3}));
  EXPECT_EQ(held(linear), (std::vector<float>{0, 7, 0, 0, 0, 8}));
  EXPECT_EQ(held(rows), held(linear));
}

TEST(Dense, PackedTypesAndStrings) {
  Tensor codes(Type::uint4, Shape{2});
  pack(std::vector<std::uint8_t>{9, 12}, codes);
  EXPECT_EQ(unpack(dense(sparse(codes, {0, 2}, Shape{2}, Shape{3}))),
            (std::vector<std::uint8_t>{9, 0, 12}));
  Tensor texts(Type::string, Shape{1});
  texts.data<std::string>()[0] = "x";
  EXPECT_EQ(dense(sparse(texts, {1}, Shape{1}, Shape{2})).data<std::string>()[1], "x");
}

}  // namespace
}  // namespace touchstone::testing
