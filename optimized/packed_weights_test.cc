// Tests that packed matrices take the place of their tensors, and that whoever still reads a tensor
// sees its elements.
#include <gmock/gmock.h>

#include "core/restorable.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

constexpr Index depth = 320, wide = 2048;

// x [rows, depth], of any number of rows, times a plain and a transposed matrix.
Model two_products(bool shared_reader) {
  Net net({3, depth});
  const std::string first =
      net.node("Relu", {net.node("Add", {net.node("MatMul", {"x", net.constant({depth, depth})}),
                                         net.constant({depth})})});
  const std::string matrix = net.constant({wide, depth});
  net.output(net.node("Gemm", {first, matrix}, {}, {{"transB", 1}}));
  if (shared_reader) net.output(net.node("ReduceSum", {matrix}, {}, {{"keepdims", 0}}));
  Model model = net.model();
  model.graph.inputs[0].shape->at(0) = {std::nullopt, "rows"};
  return model;
}

std::map<std::string, Value> rows_of_x(Index rows) {
  return {{"x", whole({rows, depth}, static_cast<unsigned>(rows))}};
}

struct Count {
  Index dropped = 0, present = 0, plain = 0;
  bool operator==(const Count&) const = default;
};

// Counts the model's matrices.
Count matrices(const Session& session) {
  Count made;
  for (const auto& [name, tensor] : session.model().graph.initializers) {
    if (tensor.shape().size() != 2) continue;
    const std::shared_ptr<Restorable> elements = restorable_of(tensor);
    ++(!elements ? made.plain : elements->present() ? made.present : made.dropped);
  }
  return made;
}

void expect_reference(Session& session, const Model& model, Index rows) {
  const std::map<std::string, Value> feeds = rows_of_x(rows), made = session.run(feeds);
  for (const auto& [name, value] : run(model, feeds))
    EXPECT_TRUE(same_bytes(made.at(name).tensor(), value.tensor())) << rows << " rows";
}

TEST(PackedWeights, TakeThePlaceOfTheirTensors) {
  const Model model = two_products(false);
  for (const Index threads : {1, 2}) {
    SCOPED_TRACE(threads);
    Session session(two_products(false), {.threads = threads});
    EXPECT_EQ(matrices(session), (Count{0, 2, 0}));
    expect_reference(session, model, 3);
    EXPECT_EQ(matrices(session), (Count{2, 0, 0}));
    expect_reference(session, model, 40);  // another plan, the same packed forms
    EXPECT_EQ(matrices(session), (Count{2, 0, 0}));
  }
}

TEST(PackedWeights, AKernelThatReadsAMatrixInPlaceRestoresIt) {
  const Model model = two_products(false);
  Session session(two_products(false), {.threads = 1});
  expect_reference(session, model, 3);
  expect_reference(session, model, 1);  // dot products along the transposed matrix
  EXPECT_THAT(session.placement().back().kernel, ::testing::StartsWith("matrix-vector"));
  EXPECT_EQ(matrices(session), (Count{1, 1, 0}));
  expect_reference(session, model, 3);
  expect_reference(session, model, 1);
}

TEST(PackedWeights, AMatrixThatIsReadElsewhereStays) {
  const Model model = two_products(true);
  Session session(two_products(true), {.threads = 1, .passes = {.level = transform::Level::none}});
  for (const Index rows : {3, 1, 5}) expect_reference(session, model, rows);
}

TEST(PackedWeights, ACallersCopyOfTheModelKeepsItsElements) {
  Model model = two_products(false);
  const float* const first = model.graph.initializers.at("c0").data<float>();
  const Tensor expected = whole({depth, depth}, 1);
  Session session(model, {.threads = 1});
  EXPECT_EQ(matrices(session), (Count{0, 0, 2}));
  expect_reference(session, model, 3);
  EXPECT_EQ(std::memcmp(first, expected.data<float>(), expected.bytes().size()), 0);
}

TEST(PackedWeights, ReadersOfTheSessionsModelSeeTheElements) {
  Session session(two_products(false), {.threads = 1});
  const Model model = two_products(false);
  expect_reference(session, model, 3);
  for (const auto& [name, tensor] : session.model().graph.initializers)
    EXPECT_TRUE(same_bytes(tensor, model.graph.initializers.at(name))) << name;
  EXPECT_EQ(matrices(session), (Count{0, 2, 0}));
  expect_reference(session, model, 3);
  expect_reference(session, model, 7);
}

}  // namespace
}  // namespace touchstone::optimized
