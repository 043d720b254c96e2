// Tests a session's memory use. Bound runs of fast kernels allocate nothing. A failed allocation
// becomes an Error, after which the session can be used again. The program counts all allocations
// of the process and can make one of them fail.
#include <gmock/gmock.h>
#include <set>

#include "core/allocation_testing.h"
#include "core/error.h"
#include "optimized/registry/isa.h"
#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using testing::allocations, testing::counted, testing::failing;
using Feeds = std::map<std::string, Value>;

// Runs on bound memory: the first run may allocate, later ones must not, whatever the memory holds.
void expect_none(const Model& model, const Tensor& x, const std::string& fast = "reference") {
  for (const Index threads : {1, 2}) {
    for (const bool winograd : {false, true}) {
      Session session(model, {.threads = threads, .winograd = winograd});
      const Feeds expected = session.run({{"x", x}});
      for (const Placement& row : session.placement())
        ASSERT_THAT(row.kernel, ::testing::Not(::testing::HasSubstr(fast)))
            << row.kernel << " runs what is tested";
      Tensor fed(x.type(), x.shape());
      std::map<std::string, Tensor> outputs;
      for (const auto& [name, value] : expected)
        outputs.emplace(name, Tensor(value.tensor().type(), value.tensor().shape()));
      Session::Bound bound = session.bind({{"x", fed}}, outputs);
      bound.run();
      std::memcpy(fed.bytes().data(), x.bytes().data(), x.bytes().size());
      for (int k = 0; k < 3; ++k) EXPECT_EQ(counted([&] { bound.run(); }), 0);
      for (const auto& [name, value] : expected) {
        const std::span<const std::byte> wanted = value.tensor().bytes();
        EXPECT_EQ(std::memcmp(outputs.at(name).bytes().data(), wanted.data(), wanted.size()), 0)
            << name;
      }
    }
  }
}

Net maps() {
  Net net({2, 3, 21, 25});
  const std::string a = net.node("Relu", {net.convolution("x", {40, 3, 3, 3}, padded)});
  const std::string b = net.convolution(a, {40, 1, 3, 3}, padded, 40);
  const std::string c = net.node("Add", {net.convolution(b, {40, 40, 3, 3}, padded), a});
  const std::string d = net.node("Mul", {c, net.node("Sigmoid", {c})});
  const std::string e = net.node("MaxPool", {d}, {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}});
  const std::string f =
      net.node("Concat", {e, net.convolution(e, {24, 40, 1, 1})}, {}, {{"axis", 1}});
  const std::string up =
      net.node("ConvTranspose", {f, net.constant({64, 5, 2, 2})}, {{"strides", {2, 2}}});
  net.output(up);
  const std::string flat = net.node("Flatten", {net.node("GlobalAveragePool", {f})});
  net.output(net.node("Gemm", {flat, net.constant({64, 10}), net.constant({10})}));
  return net;
}

Net tensors() {
  Net net({6, 5, 33});
  const std::string a = net.node("Transpose", {"x"}, {{"perm", {0, 2, 1}}});
  const std::string b = net.node("MatMul", {a, net.constant({5, 19})});
  const std::string c = net.node("Add", {net.node("Exp", {b}), net.constant({19})});
  net.output(net.node("Tanh", {c}));
  net.output(net.node("Concat", {c, c}, {}, {{"axis", 0}}));
  net.output(net.node("Reshape", {c, net.integers({-1})}));
  return net;
}

// Nodes of kernel families, also on integers and bools.
Model families() {
  constexpr Index to_float = 1, to_integer = 7;
  Net net({4, 16});
  const std::string a = net.node("Cast", {"x"}, {}, {{"to", to_integer}});
  const std::string b = net.node("Add", {a, net.integers({3}, {1, 1})});
  const std::string c = net.node("Gather", {b, net.integers({7, 0, -1, 3})}, {}, {{"axis", 1}});
  const std::string d = net.node(
      "Slice", {b, net.integers({1}), net.integers({16}), net.integers({1}), net.integers({2})});
  const std::string e = net.node("Concat", {c, d}, {}, {{"axis", 1}});
  const std::string f = net.node("Greater", {e, net.integers({2}, {1, 1})});
  const std::string g = net.node("Where", {f, e, net.integers({-1}, {1, 1})});
  const std::string h = net.node("Reshape", {g, net.integers({12, 4})});
  const std::string i = net.node("Transpose", {h}, {{"perm", {1, 0}}});
  net.output(i, Type::int64);
  const std::string j = net.node("Cast", {i}, {}, {{"to", to_float}});
  const std::string k = net.node("Softmax", {j}, {}, {{"axis", -1}});
  net.output(net.node("ReduceMean", {k, net.integers({1})}));
  net.output(net.node("ReduceMax", {k}, {}, {{"keepdims", 0}}));
  net.output(net.node("LayerNormalization", {k, net.constant({12})}));
  net.output(net.node("Not", {f}), Type::boolean);
  return net.model();
}

TEST(Memory, BoundRunsAllocateNothing) {
  expect_none(maps().model(), whole({2, 3, 21, 25}, 1));
  expect_none(tensors().model(), whole({6, 5, 33}, 1));
  expect_none(families(), whole({4, 16}, 1));
}

TEST(Memory, BoundRunsOfOpenShapesAllocateNothing) {
  Model model = tensors().model();
  model.graph.inputs[0].shape->front() = {{}, "n"};
  expect_none(model, whole({6, 5, 33}, 1));
}

TEST(Memory, BoundMemoryHasToFit) {
  Session session(tensors().model());
  const Value x = whole({6, 5, 33}, 1);
  const std::string name = session.model().graph.outputs[0].name;
  const auto refused = [&](const std::string& output, const Tensor& memory) {
    try {
      session.bind({{"x", x}}, {{output, memory}}).run();
      ADD_FAILURE() << text(memory.shape());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::usage);
      EXPECT_THAT(error.message, ::testing::HasSubstr("'" + output + "'")) << error.message;
    }
  };
  refused("nowhere", Tensor(Type::float32, {6, 33, 19}));
  refused(name, Tensor(Type::float32, {6, 33, 18}));
  refused(name, Tensor(Type::float64, {6, 33, 19}));
  refused(name, Tensor(Type::string, {6, 33, 19}));
  EXPECT_THROW(session.bind({}, {}), Error);
  EXPECT_THROW(session.bind({{"x", whole({6, 5, 32}, 1)}}, {}), Error);
  EXPECT_NO_THROW(session.bind({{"x", x}}, {{name, Tensor(Type::float32, {6, 33, 19})}}).run());
}

// Makes the allocations of `work` after its call of `begin` fail, one after the other, until it
// succeeds. Each failure must be an Error of kind out_of_memory. Returns the places that the errors
// name.
template <class F>
std::set<std::string> places_of_failures(F work) {
  std::set<std::string> places;
  for (Index k = 1;; ++k) {
    Index at = 0;
    const auto begin = [&] { failing = at = allocations + k; };
    try {
      work(begin);
      failing = -1;
      if (allocations < at) return places;
    } catch (const Error& error) {
      failing = -1;
      EXPECT_EQ(error.kind, ErrorKind::out_of_memory) << error.message;
      places.insert(error.place);
    } catch (const std::exception& other) {
      failing = -1;
      ADD_FAILURE() << "allocation " << k << ": " << other.what();
      return places;
    }
  }
}

// A model with nodes that run on the reference, which allocate in every run.
Model mixed() {
  Net net({2, 3, 9, 9});
  const std::string a = net.convolution("x", {20, 3, 3, 3}, padded);
  net.output(net.node("Det", {a}));
  return net.model();
}

TEST(Memory, AFailedAllocationOfARunIsAnErrorOfItsNode) {
  const Tensor x = whole({2, 3, 9, 9}, 1);
  for (const Index threads : {1, 2}) {
    Session session(mixed(), {.threads = threads});
    const Feeds expected = session.run({{"x", x}});
    const auto& [name, wanted] = *expected.begin();
    const Tensor made(Type::float32, wanted.tensor().shape());
    Session::Bound bound = session.bind({{"x", x}}, {{name, made}});
    const std::set<std::string> places = places_of_failures([&](auto begin) {
      begin();
      bound.run();
    });
    const bool named = std::any_of(places.begin(), places.end(), [](const std::string& place) {
      return place.find("'n1' (Det)") != std::string::npos;
    });
    EXPECT_TRUE(named);
    const std::span<const std::byte> bytes = wanted.tensor().bytes();
    EXPECT_EQ(std::memcmp(made.bytes().data(), bytes.data(), bytes.size()), 0);
  }
}

TEST(Memory, AFailedAllocationOfAPlanIsAnError) {
  Model open = mixed();
  open.graph.inputs[0].shape->front() = {{}, "n"};
  for (const Index threads : {1, 3}) {
    for (const Model& each : {open, mixed()}) {
      places_of_failures([&](auto begin) {
        Model model = each;
        Feeds feeds{{"x", whole({2, 3, 9, 9}, 1)}};
        begin();
        Session session(std::move(model), {.threads = threads});
        session.run(std::move(feeds));
      });
    }
  }
}

}  // namespace
}  // namespace touchstone::optimized
