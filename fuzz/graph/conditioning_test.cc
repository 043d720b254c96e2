// Tests that only what roundings of the inputs reach is taken for a rounding.
#include "fuzz/graph/conditioning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// True if `actual` is as near to the operator's result for x as moved inputs come.
bool moves(const std::string& op, float x, float actual) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  model.graph.inputs.push_back({"x", tensor_type(Type::float32), {}});
  model.graph.outputs.push_back({"y", tensor_type(Type::float32), {}});
  Node node;
  node.op = op;
  node.inputs = {"x"};
  node.outputs = {"y"};
  model.graph.nodes.push_back(node);
  require_valid(model, Limits::trusted());
  Tensor fed(Type::float32, {2}), made(Type::float32, {2});
  fed.data<float>()[0] = 0.5F;
  fed.data<float>()[1] = x;
  const auto look_up = [&](const std::string&) -> Value { return fed; };
  const std::vector<Value> expected = run_node(model.graph.nodes[0], look_up);
  made.data<float>()[0] = expected[0].tensor().data<float>()[0];
  made.data<float>()[1] = actual;
  return moves_as_far(model.graph.nodes[0], look_up, expected, {made});
}

TEST(Conditioning, SlopesMultiplyRoundings) {
  constexpr float near_a_pole = 1.5707F;
  EXPECT_TRUE(moves("Tan", near_a_pole, std::tan(near_a_pole) * 1.001F));
  EXPECT_FALSE(moves("Tan", near_a_pole, std::tan(near_a_pole) * 1.1F));
  EXPECT_FALSE(moves("Tan", near_a_pole, -std::tan(near_a_pole)));
  EXPECT_FALSE(moves("Tan", 0.25F, std::tan(0.25F) * 1.001F));
}

TEST(Conditioning, JumpsReachBothSides) {
  EXPECT_TRUE(moves("Floor", 3.0F, 2.0F));
  EXPECT_FALSE(moves("Floor", 3.5F, 2.0F));
  EXPECT_FALSE(moves("Floor", 30.0F, 20.0F));
}

TEST(Conditioning, ZeroStays) {
  EXPECT_FALSE(moves("Sign", 0.0F, 1.0F));
  EXPECT_FALSE(moves("Neg", 1.0F, not_a_number));
}

// Returns a node If on `c` that runs the body in either case.
Node if_node(const std::shared_ptr<const Graph>& body, std::vector<std::string> outputs) {
  Node node;
  node.op = "If";
  node.inputs = {"c"};
  node.outputs = std::move(outputs);
  node.attributes["then_branch"].is = body;
  node.attributes["else_branch"].is = body;
  return node;
}

// True if the node If, whose body is LogSoftmax of ones and x, or a sequence of it, may answer
// `actual` for x.
bool moves_inside(float x, float actual, bool in_sequence = false) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  model.graph.inputs.push_back({"c", tensor_type(Type::boolean), {}});
  model.graph.inputs.push_back({"x", tensor_type(Type::float32), {}});
  const ValueType tensor = tensor_type(Type::float32);
  const ValueType made_type = in_sequence ? sequence_type(tensor) : tensor;
  model.graph.outputs.push_back({"y", made_type, {}});
  const auto body = std::make_shared<Graph>();
  body->name = "body";
  body->outputs.push_back({in_sequence ? "s" : "z", made_type, {}});
  Node inner, joined;
  inner.op = "LogSoftmax";
  inner.inputs = {"x"};
  inner.outputs = {"z"};
  body->nodes.push_back(inner);
  joined.op = "SequenceConstruct";
  joined.inputs = {"z"};
  joined.outputs = {"s"};
  if (in_sequence) body->nodes.push_back(joined);
  model.graph.nodes.push_back(if_node(body, {"y"}));
  require_valid(model, Limits::trusted());
  constexpr Index ones = 15;
  Tensor condition(Type::boolean, {}), fed(Type::float32, {ones + 1}),
      made(Type::float32, {ones + 1});
  condition.data<bool>()[0] = true;
  std::fill_n(fed.data<float>(), ones, 1.0F);
  fed.data<float>()[ones] = x;
  const auto look_up = [&](const std::string& name) -> Value {
    return name == "c" ? condition : fed;
  };
  const std::vector<Value> expected = run_node(model.graph.nodes[0], look_up);
  const Value& shown = in_sequence ? std::get<Sequence>(expected[0].is).items[0] : expected[0];
  std::copy_n(shown.tensor().data<float>(), ones, made.data<float>());
  made.data<float>()[ones] = actual;
  const Value answer = in_sequence ? Value(Sequence{tensor, {made}}) : Value(made);
  return moves_as_far(model.graph.nodes[0], look_up, expected, {answer});
}

// A sum of 1 and 15 exp(-15), rounded to a float, moves its logarithm by 1 %.
TEST(Conditioning, BodiesRoundInside) {
  const float exact = static_cast<float>(-std::log1p(15 * std::exp(-15.0)));
  EXPECT_TRUE(moves_inside(16, exact * 1.01F));
  EXPECT_FALSE(moves_inside(16, exact * 6));
  EXPECT_FALSE(moves_inside(16, -0.001F));
  EXPECT_FALSE(moves_inside(16, 1));
  EXPECT_TRUE(moves_inside(16, exact * 1.01F, true));
  EXPECT_FALSE(moves_inside(16, exact * 6, true));
}

// True if the node If may answer `of_x` for Tan of x, 15 times, and beside it NaN for Neg of 1.
bool moves_beside(float x, float of_x) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  model.graph.inputs.push_back({"c", tensor_type(Type::boolean), {}});
  for (const std::string name : {"x", "one"})
    model.graph.inputs.push_back({name, tensor_type(Type::float32), {}});
  const auto body = std::make_shared<Graph>();
  body->name = "body";
  std::vector<std::string> outputs;
  for (const auto& [op, from, to] : {std::tuple("Tan", "x", "y"), std::tuple("Neg", "one", "z")}) {
    Node inner;
    inner.op = op;
    inner.inputs = {from};
    inner.outputs = {to};
    body->nodes.push_back(inner);
    body->outputs.push_back({to, tensor_type(Type::float32), {}});
    outputs.push_back(std::string(to) + "_made");
    model.graph.outputs.push_back({outputs.back(), tensor_type(Type::float32), {}});
  }
  model.graph.nodes.push_back(if_node(body, outputs));
  require_valid(model, Limits::trusted());
  Tensor condition(Type::boolean, {}), fed(Type::float32, {15}), one(Type::float32, {1}),
      tangents(Type::float32, {15}), made(Type::float32, {1});
  condition.data<bool>()[0] = true;
  std::fill_n(fed.data<float>(), 15, x);
  one.data<float>()[0] = 1;
  std::fill_n(tangents.data<float>(), 15, of_x);
  made.data<float>()[0] = not_a_number;
  const auto look_up = [&](const std::string& name) -> Value {
    return name == "c" ? condition : name == "x" ? fed : one;
  };
  const std::vector<Value> expected = run_node(model.graph.nodes[0], look_up);
  return moves_as_far(model.graph.nodes[0], look_up, expected, {tangents, made});
}

// The period of the tangent is less than an ulp of 1e10.
TEST(Conditioning, WhereMostIsLostNothingIsKnownOfOtherOutputs) {
  EXPECT_TRUE(moves_beside(1e10F, 2.5F));
  EXPECT_FALSE(moves_beside(0.25F, std::tan(0.25F) * 1.001F));
}

// True if a Scan may answer NaN where it adds its last state to a million. The state begins as x
// and becomes its tangent at each of 4 steps.
bool moves_state(float x) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 21;
  model.graph.name = "one";
  const auto body = std::make_shared<Graph>();
  body->name = "body";
  Node node;
  node.op = "Scan";
  for (const std::string name : {"s", "u"}) {
    model.graph.inputs.push_back({name, tensor_type(Type::float32), {}});
    body->inputs.push_back({name + "_in", tensor_type(Type::float32), {}});
    node.inputs.push_back(name);
  }
  Node tangent, sum;
  tangent.op = "Tan";
  tangent.inputs = {"s_in"};
  tangent.outputs = {"t"};
  sum.op = "Add";
  sum.inputs = {"u_in", "t"};
  sum.outputs = {"z"};
  body->nodes = {tangent, sum};
  for (const std::string name : {"t", "z"}) {
    body->outputs.push_back({name, tensor_type(Type::float32), {}});
    node.outputs.push_back(name + "_made");
    model.graph.outputs.push_back({node.outputs.back(), tensor_type(Type::float32), {}});
  }
  node.attributes["body"].is = std::shared_ptr<const Graph>(body);
  node.attributes["num_scan_inputs"].is = Index{1};
  model.graph.nodes.push_back(node);
  require_valid(model, Limits::trusted());
  Tensor state(Type::float32, {1}), rows(Type::float32, {4, 1});
  state.data<float>()[0] = x;
  std::fill_n(rows.data<float>(), 4, 1e6F);
  const auto look_up = [&](const std::string& name) -> Value { return name == "s" ? state : rows; };
  const std::vector<Value> expected = run_node(model.graph.nodes[0], look_up);
  std::vector<Value> actual = expected;
  const Tensor& sums = expected[1].tensor();
  Tensor stacked(sums.type(), sums.shape());
  std::copy_n(sums.data<float>(), sums.size(), stacked.data<float>());
  stacked.data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  actual[1] = stacked;
  return moves_as_far(model.graph.nodes[0], look_up, expected, actual);
}

TEST(Conditioning, StatesThatAreLostMayBeAnything) {
  EXPECT_TRUE(moves_state(1e10F));
  EXPECT_FALSE(moves_state(0.25F));
}

Tensor floats(const std::vector<float>& values) {
  Tensor made(Type::float32, {static_cast<Index>(values.size())});
  std::copy(values.begin(), values.end(), made.data<float>());
  return made;
}

// True if a node If, whose body makes `z` of `x` and `u`, may answer `made`.
bool moves_body(const std::shared_ptr<Graph>& body, const Tensor& x, const Tensor& u,
                const Tensor& made) {
  Model model;
  model.ir_version = 11;
  model.opsets[""] = 26;
  model.graph.name = "one";
  model.graph.inputs.push_back({"c", tensor_type(Type::boolean), {}});
  for (const std::string name : {"x", "u"})
    model.graph.inputs.push_back({name, tensor_type(Type::float32), {}});
  model.graph.outputs.push_back({"y", tensor_type(Type::float32), {}});
  body->name = "body";
  body->outputs.push_back({"z", tensor_type(Type::float32), {}});
  model.graph.nodes.push_back(if_node(body, {"y"}));
  require_valid(model, Limits::trusted());
  Tensor condition(Type::boolean, {});
  condition.data<bool>()[0] = true;
  const auto look_up = [&](const std::string& name) -> Value {
    return name == "c" ? condition : name == "x" ? x : u;
  };
  const std::vector<Value> expected = run_node(model.graph.nodes[0], look_up);
  return moves_as_far(model.graph.nodes[0], look_up, expected, {made});
}

// True if a body may answer `made` for the products of x from each element on, times `factor`.
bool moves_products(const std::vector<float>& x, float factor, const std::vector<float>& made) {
  const auto body = std::make_shared<Graph>();
  Tensor axis(Type::int64, {});
  axis.data<std::int64_t>()[0] = 0;
  body->initializers.emplace("axis", axis);
  Node products, scaled;
  products.op = "CumProd";
  products.inputs = {"x", "axis"};
  products.outputs = {"p"};
  products.attributes["reverse"].is = Index{1};
  scaled.op = "Mul";
  scaled.inputs = {"p", "u"};
  scaled.outputs = {"z"};
  body->nodes = {products, scaled};
  return moves_body(body, floats(x), floats({factor}), floats(made));
}

// True if products of x times infinity may be `first` before infinities.
bool moves_product(const std::vector<float>& x, float first) {
  std::vector<float> made(x.size(), infinity);
  made[0] = first;
  return moves_products(x, infinity, made);
}

// The first product is 0 or 1e-20 or overflows, by the order of its factors, so its bound is
// infinite.
TEST(Conditioning, ProductsWithoutABoundMayBeAnything) {
  for (const float first : {infinity, -infinity, 1.0F})
    EXPECT_TRUE(moves_product({1e-30F, 1e-30F, 1e30F, 1e30F, 1e-20F}, first));
  EXPECT_FALSE(moves_product({1e-10F, 1e-10F, 1, 1, 1e-10F}, 0));
}

// 0 times a product that overflows is NaN, unless the product is made before it is rounded.
TEST(Conditioning, ZeroTimesAnOverflowMayBeNotANumber) {
  std::vector<float> x(20, 1), made(20, 1);
  x[0] = 0, x[1] = x[2] = 1e30F;
  made[0] = not_a_number, made[1] = infinity, made[2] = 1e30F;
  EXPECT_TRUE(moves_products(x, 1, made));
  made[3] = 5;
  EXPECT_FALSE(moves_products(x, 1, made));
  x[1] = x[2] = 1e10F;
  made[1] = 1e20F, made[2] = 1e10F, made[3] = 1;
  EXPECT_FALSE(moves_products(x, 1, made));
}

// True if a body of MatMul may answer `sum` for the product of x and u.
bool moves_sum(const std::vector<float>& x, const std::vector<float>& u, float sum) {
  const auto body = std::make_shared<Graph>();
  Node product;
  product.op = "MatMul";
  product.inputs = {"x", "u"};
  product.outputs = {"z"};
  body->nodes = {product};
  Tensor made(Type::float32, {});
  made.data<float>()[0] = sum;
  return moves_body(body, floats(x), floats(u), made);
}

// A product of finite numbers overflows to the other infinity, unless it is added before it is
// rounded.
TEST(Conditioning, OverflowBesideInfinityIsSeenOrNot) {
  EXPECT_TRUE(moves_sum({infinity, 1e20F}, {1, -1e20F}, infinity));
  EXPECT_FALSE(moves_sum({infinity, 1e10F}, {1, -1e10F}, not_a_number));
  EXPECT_FALSE(moves_sum({infinity, infinity}, {1, -1}, infinity));
}

}  // namespace
}  // namespace touchstone::fuzz
