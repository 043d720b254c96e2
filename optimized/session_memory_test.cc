// Tests that large feeds and outputs are read and written in the caller's memory, and copied where
// they must be.
#include <gmock/gmock.h>

#include "optimized/plan/arena_check.h"
#include "optimized/testing.h"

namespace touchstone::optimized::memory {
namespace {

using Feeds = std::map<std::string, Value>;
constexpr Index rows = 192, columns = 128;  // 96 KiB

// y = relu(x) weights, and what `more` adds.
Net product() {
  Net net({rows, columns});
  net.output(net.node("MatMul", {net.node("Relu", {"x"}), net.constant({columns, columns})}));
  return net;
}

void expect_same(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  EXPECT_EQ(std::memcmp(got.bytes().data(), wanted.bytes().data(), wanted.bytes().size()), 0);
}

void expect_reference(const Model& model, const Feeds& feeds, const Feeds& made) {
  for (const auto& [name, value] : run(model, feeds))
    expect_same(made.at(name).tensor(), value.tensor());
}

std::string kernels_of(const Session& session) {
  std::string kernels;
  for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  return kernels;
}

Tensor copy_of(const Tensor& from) {
  Tensor made(from.type(), from.shape());
  std::copy_n(from.data<float>(), from.size(), made.data<float>());
  return made;
}

TEST(SessionMemory, LargeFeedsAreReadInPlaceAndOutputsAreNew) {
  const Model model = product().model();
  Session session(model, {.threads = 1});
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (const unsigned seed : {1U, 2U, 1U}) {
    const Tensor x = whole({rows, columns}, seed), before = copy_of(x);
    const Feeds made = session.run({{"x", x}});
    expect_reference(model, {{"x", before}}, made);
    expect_same(x, before);
    pairs.emplace_back(before, made.begin()->second.tensor());
  }
  for (const auto& [x, y] : pairs) expect_reference(model, {{"x", x}}, {{"v1", y}});  // kept
  if (arena_check_chosen()) return;  // it watches copies in the plan's own memory
  EXPECT_THAT(kernels_of(session), ::testing::StartsWith("view; "));
  EXPECT_THAT(kernels_of(session), ::testing::Not(::testing::HasSubstr("copy")));
}

TEST(SessionMemory, BoundMemoryMayChangeOrOverlap) {
  const Model model = product().model();
  Session session(model, {.threads = 1});
  Tensor x = whole({rows, columns}, 1);
  const Tensor apart(Type::float32, {rows, columns});
  Session::Bound bound = session.bind({{"x", x}}, {{"v1", apart}});
  Session::Bound in_place = session.bind({{"x", x}}, {{"v1", x}});
  const Tensor once = run(model, {{"x", copy_of(x)}}).at("v1").tensor();
  bound.run();
  expect_same(apart, once);
  expect_same(session.run({{"x", x}}).at("v1").tensor(), once);
  in_place.run();
  expect_same(x, once);
  bound.run();
  expect_reference(model, {{"x", once}}, {{"v1", apart}});
}

TEST(SessionMemory, TwoOutputsBoundToOneMemory) {
  Net net = product();
  net.output(net.node("Add", {"x", "v1"}));
  const Model model = net.model();
  const Tensor x = whole({rows, columns}, 3), one(Type::float32, {rows, columns});
  Session session(model, {.threads = 1});
  Session::Bound bound = session.bind({{"x", x}}, {{"v1", one}, {"v2", one}});
  bound.run();
  const Feeds expected = run(model, {{"x", x}});
  expect_same(one, expected.at("v2").tensor());  // written last
}

TEST(SessionMemory, OutputsOfAnotherShapeAreRefused) {
  const Model model = product().model();
  const Tensor x = whole({rows, columns}, 4), other(Type::float32, {columns, rows});
  Session session(model, {.threads = 1});
  session.run({{"x", x}});
  Session::Bound bound = session.bind({{"x", x}}, {{"v1", other}});
  EXPECT_THROW(bound.run(), Error);
  expect_reference(model, {{"x", x}}, session.run({{"x", x}}));
}

TEST(SessionMemory, ViewsOfFeedsAndOutputsReadAgain) {
  Net net({rows, columns});
  const std::string flat = net.node("Reshape", {"x", net.integers({-1})});
  net.output(flat);
  const std::string positive = net.node("Relu", {"x"});
  net.output(positive);
  const std::string across = net.node("Transpose", {positive}, {{"perm", {1, 0}}});
  net.output(across);
  net.output(net.node("MatMul", {across, positive}));
  net.node("TopK", {positive, net.integers({3})});
  net.outputs({"best", "places"});
  net.output("best");
  net.output("places", Type::int64);
  const Model model = net.model();
  for (const transform::Level level : {transform::Level::none, transform::Level::all}) {
    Session session(model, {.threads = 1, .passes = {.level = level}});
    for (const unsigned seed : {5U, 6U}) {
      Feeds made;
      Tensor x = whole({rows, columns}, seed);
      const Tensor before = copy_of(x);
      made = session.run({{"x", x}});
      std::fill_n(x.data<float>(), x.size(), 7.0F);  // outputs do not share it
      expect_reference(model, {{"x", before}}, made);
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized::memory
