// Tests the check of what steps store.
#include "optimized/plan/store.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

TEST(Store, AnotherTypeThanThePlanStatesIsRefused) {
  Model model = one_node("Identity", {"x"}, {2});
  model.graph.inputs = {info("x", {2})};
  resolve(model);
  const AnalyzedGraph graph(model, {{"x", Shape{2}}}, {});
  const Index y = graph.find("y");
  ASSERT_EQ(graph.value(y).type, tensor_type(Type::float32));

  ThreadPool pool(1);
  std::vector<Value> values(static_cast<std::size_t>(y) + 1);
  const std::vector<float*> scratch;
  const Limits limits;
  RunState state{pool, values, scratch, limits, nullptr};
  store(state, graph, y, Tensor(Type::float32, {2}));
  EXPECT_EQ(state.values[static_cast<std::size_t>(y)].type(), tensor_type(Type::float32));
  const std::pair<Value, std::string> others[] = {
      {Tensor(Type::int64, {2}), "tensor(int64)"},
      {Sequence{tensor_type(Type::float32), {}}, "seq(tensor(float))"}};
  for (const auto& [other, text] : others) {
    try {
      store(state, graph, y, other);
      ADD_FAILURE() << text << " was stored";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::internal);
      EXPECT_NE(error.message.find("'y' was made as " + text), std::string::npos) << error.message;
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
