// Tests the class of each node's kernel, the stated reasons, and the times of nodes.
#include "optimized/plan/node_placement.h"

#include <gmock/gmock.h>

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const NodePlacement& row_of(const std::vector<NodePlacement>& rows, const std::string& op) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const NodePlacement& row) {
    return row.node.ends_with("(" + op + ")");
  });
  if (found == rows.end()) throw std::runtime_error("no node " + op);
  return *found;
}

ValueInfo typed(const std::string& name, Type type, const std::optional<Shape>& shape) {
  ValueInfo made = info(name, shape.value_or(Shape{}));
  made.type = tensor_type(type);
  if (!shape) made.shape.reset();
  return made;
}

Model fed_with(Model model, std::vector<ValueInfo> inputs) {
  model.graph.inputs = std::move(inputs);
  model.graph.outputs.front().type.reset();
  model.graph.outputs.front().shape.reset();
  resolve(model);
  return model;
}

// The only node of a planned model.
NodePlacement placed(const Model& model, const std::map<std::string, Shape>& shapes) {
  Session session(model, {.threads = 1});
  const std::vector<NodePlacement> rows = session.kernels_for(shapes);
  return rows.empty() ? NodePlacement{} : rows.front();
}

// An operator that has no fast kernel for any type.
Model normalised_texts() {
  return fed_with(one_node("StringNormalizer", {"a"}, {}), {typed("a", Type::string, Shape{5})});
}

TEST(NodePlacement, EachNodeHasAClassAlsoWithoutAStep) {
  Model model = one_node("Relu", {"x"}, {});
  const auto add = [&](const std::string& op, std::vector<std::string> in, const std::string& out) {
    Node node;
    node.op = op;
    node.index = static_cast<Index>(model.graph.nodes.size());
    node.inputs = std::move(in);
    node.outputs = {out};
    model.graph.nodes.push_back(std::move(node));
  };
  model.graph.nodes.front().outputs = {"r"};
  add("Shape", {"r"}, "size");
  add("Reshape", {"r", "flat"}, "f");
  add("Det", {"r"}, "d");
  add("Expand", {"d", "size"}, "y");
  add("Add", {"y", "f"}, "z");
  model.graph.outputs.front().name = "z";
  Tensor flat(Type::int64, {2});
  flat.data<Index>()[0] = flat.data<Index>()[1] = 3;
  model.graph.initializers.emplace("flat", flat);
  SessionOptions options{.threads = 1};
  options.passes.level = transform::Level::none;
  Session session(fed_with(std::move(model), {typed("x", Type::float32, Shape{3, 3})}), options);
  const std::vector<NodePlacement> rows = session.kernels();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(row_of(rows, "Relu").grade, KernelGrade::tuned);
  EXPECT_EQ(row_of(rows, "Relu").version, "Relu-14");
  EXPECT_EQ(row_of(rows, "Shape").grade, KernelGrade::folded);
  EXPECT_EQ(row_of(rows, "Reshape").grade, KernelGrade::view);
  for (const NodePlacement& row : rows) {
    const bool slow = row.grade == KernelGrade::reference || row.grade == KernelGrade::generic;
    EXPECT_EQ(row.why.empty(), !slow) << row.node;
    EXPECT_EQ(row.microseconds, 0) << row.node;
  }
}

TEST(NodePlacement, AReasonIsAChangeThatHelps) {
  Model wide = one_node("LSTM", {"x", "w", "r"}, {});
  wide.graph.nodes.front().attributes["hidden_size"].is = Index{2};
  const std::map<std::string, Shape> shapes{{"x", {3, 1, 4}}, {"w", {1, 8, 4}}, {"r", {1, 8, 2}}};
  std::vector<ValueInfo> inputs;
  for (const auto& [name, shape] : shapes) inputs.push_back(typed(name, Type::float64, shape));
  const NodePlacement row = placed(fed_with(std::move(wide), inputs), shapes);
  EXPECT_EQ(row.grade, KernelGrade::reference);
  EXPECT_EQ(row.kernel, "reference");
  EXPECT_EQ(row.why, "no fast kernel for double, only for float");
}

TEST(NodePlacement, AnAttributeIsNamedWithItsValue) {
  Model norm = one_node("LayerNormalization", {"x", "s"}, {});
  norm.graph.nodes.front().attributes["stash_type"].is = Index{16};
  const std::map<std::string, Shape> shapes{{"x", {3, 4}}, {"s", {4}}};
  const NodePlacement row =
      placed(fed_with(std::move(norm), {typed("x", Type::float32, shapes.at("x")),
                                        typed("s", Type::float32, shapes.at("s"))}),
             shapes);
  EXPECT_EQ(row.grade, KernelGrade::generic);
  EXPECT_EQ(row.why, "attribute 'stash_type' = 16");
}

TEST(NodePlacement, ASizeThatARunFindsIsAReason) {
  Model model = one_node("GlobalAveragePool", {"r"}, {});
  Node reshape;
  reshape.op = "Reshape";
  reshape.inputs = {"x", "size"};
  reshape.outputs = {"r"};
  reshape.index = 1;
  model.graph.nodes.insert(model.graph.nodes.begin(), reshape);
  std::swap(model.graph.nodes[0].index, model.graph.nodes[1].index);
  model = fed_with(std::move(model),
                   {typed("x", Type::float32, Shape{192}), typed("size", Type::int64, Shape{4})});
  Session session(model, {.threads = 1});
  const NodePlacement row = row_of(session.kernels(), "GlobalAveragePool");
  EXPECT_NE(row.grade, KernelGrade::tuned);
  EXPECT_EQ(row.why, "a size is known only at run time");
}

TEST(NodePlacement, AMissingShapeIsRefused) {
  const Model model =
      fed_with(one_node("Relu", {"x"}, {}), {typed("x", Type::float32, std::nullopt)});
  EXPECT_THROW(placed(model, {}), Error);
  EXPECT_EQ(placed(model, {{"x", {1, 3, 8, 8}}}).grade, KernelGrade::tuned);
}

TEST(NodePlacement, AShapeThatIsNotDeclaredIsRefused) {
  const Model model =
      fed_with(one_node("Relu", {"x"}, {}), {typed("x", Type::float32, Shape{2, 3})});
  EXPECT_EQ(placed(model, {{"x", {2, 3}}}).grade, KernelGrade::tuned);
  EXPECT_THROW(placed(model, {{"x", {2, 4}}}), Error);
  EXPECT_THROW(placed(model, {{"x", {2, 3}}, {"z", {2}}}), Error);
}

TEST(NodePlacement, WithoutAChangeTheTypesAreNamed) {
  const NodePlacement row = placed(normalised_texts(), {{"a", {5}}});
  EXPECT_EQ(row.grade, KernelGrade::reference);
  EXPECT_EQ(row.why, "no fast kernel for StringNormalizer-10 of string[5]");
}

TEST(NodePlacement, ABrokenNodeSaysSo) {
  Model model = one_node("Add", {"a", "b"}, {});
  const NodePlacement row = placed(
      fed_with(std::move(model),
               {typed("a", Type::float32, std::nullopt), typed("b", Type::float32, std::nullopt)}),
      {{"a", {2}}, {"b", {3}}});
  EXPECT_EQ(row.why, "it violates a rule, which the reference reports");
}

TEST(NodePlacement, AFamilyThatRefusesACallRanOnTheReference) {
  const Model model =
      fed_with(one_node("NonZero", {"x"}, {}), {typed("x", Type::float32, std::nullopt)});
  Session session(model, {.threads = 1});
  session.run({{"x", whole({3}, 1)}});
  EXPECT_EQ(session.kernels().front().grade, KernelGrade::tuned);
  session.run({{"x", Tensor(Type::float32, {0})}});
  const NodePlacement row = session.kernels().front();
  EXPECT_EQ(row.grade, KernelGrade::reference);
  EXPECT_EQ(row.why, "kernel 'non-zero' does not compute this call");
  EXPECT_EQ(row.kernel, "reference");
  EXPECT_EQ(session.placement().front().kernel, "reference");
  session.run({{"x", whole({3}, 1)}});
  EXPECT_EQ(session.kernels().front().grade, KernelGrade::tuned);
  EXPECT_EQ(session.placement().front().kernel, "non-zero");
}

TEST(NodePlacement, NodesOfSubgraphsHaveTheirOwnTimes) {
  auto body = std::make_shared<Graph>();
  *body = normalised_texts().graph;
  body->name = "body";
  body->nodes.front().name = "inner";
  body->nodes.front().inputs = {"x"};  // captured
  body->inputs.clear();
  Model model = one_node("If", {"c"}, {});
  Node& branch = model.graph.nodes.front();
  branch.name = "choice";
  for (const char* const name : {"then_branch", "else_branch"})
    branch.attributes[name].is = std::shared_ptr<const Graph>(body);
  SessionOptions options{.threads = 1, .timings = true};
  options.passes.level = transform::Level::none;
  Session session(fed_with(std::move(model), {typed("c", Type::boolean, Shape{}),
                                              typed("x", Type::string, Shape{5})}),
                  options);
  EXPECT_THAT(session.kernels().front().why, HasSubstr("a run chooses"));
  Tensor yes(Type::boolean, {});
  *yes.data<bool>() = true;
  for (int k = 0; k < 2; ++k) {  // the second run forgets the times of the first
    session.run({{"c", yes}, {"x", Tensor(Type::string, {5})}});
    const std::vector<NodePlacement> rows = session.kernels();
    ASSERT_GE(rows.size(), 2U);
    EXPECT_EQ(rows[1].node, "'choice' (If) then_branch: 'inner' (StringNormalizer)");
    EXPECT_EQ(rows[1].grade, KernelGrade::reference);
    EXPECT_THAT(rows[1].why, StartsWith("no fast kernel for StringNormalizer-10"));
    double whole_run = 0, nodes = 0;
    for (const Timing& timing : session.timings()) {
      if (timing.thread == no_value) whole_run += timing.end - timing.begin;
    }
    for (const NodePlacement& row : rows) nodes += row.microseconds;
    EXPECT_GT(rows[1].microseconds, 0);
    EXPECT_LE(nodes, whole_run + 1e-6);
  }
}

}  // namespace
}  // namespace touchstone::optimized
