// Tests casts and bools in sessions: casts against the reference, bit for bit, and bools
// whose bytes are neither 0 nor 1.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/numbers/convert.h"
#include "model/model.h"
#include "optimized/session.h"
#include "reference/interpreter.h"

namespace touchstone::optimized::elements_testing {
namespace {

using Feeds = std::map<std::string, Value>;

struct OneNode {
  Model model;
  Feeds feeds;
};

// Returns a node of which every input is fed, with a shape that is unknown before the run.
OneNode one_node(const std::string& op, const std::vector<Tensor>& inputs,
                 std::optional<Type> to = std::nullopt) {
  OneNode made;
  made.model.ir_version = 10;
  made.model.opsets[""] = 21;
  made.model.graph.name = "one";
  Node node;
  node.op = op;
  for (const Tensor& tensor : inputs) {
    ValueInfo fed;
    fed.name = "i" + std::to_string(node.inputs.size());
    fed.type = tensor_type(tensor.type());
    node.inputs.push_back(fed.name);
    made.model.graph.inputs.push_back(fed);
    made.feeds.emplace(fed.name, tensor);
  }
  if (to) node.attributes["to"].is = static_cast<Index>(*to);
  node.outputs.push_back("y");
  ValueInfo out;
  out.name = "y";
  made.model.graph.outputs.push_back(out);
  made.model.graph.nodes.push_back(std::move(node));
  resolve(made.model);
  require_valid(made.model, Limits::trusted());
  return made;
}

Tensor run_fast(const OneNode& one, std::string* kernel = nullptr) {
  Session session(one.model, {.threads = 2});
  Tensor y = session.run(one.feeds).at("y").tensor();
  if (kernel != nullptr) {
    for (const Placement& row : session.placement()) *kernel += row.kernel;
  }
  return y;
}

// Casts numbers and requires the reference's bits. Returns the kernel.
std::string cast(Type from, Type to, const std::vector<long double>& numbers) {
  SCOPED_TRACE(std::string(name(from)) + " to " + std::string(name(to)));
  Tensor x(from, {static_cast<Index>(numbers.size())});
  for (Index k = 0; k < x.size(); ++k) set_number(x, k, numbers[static_cast<std::size_t>(k)]);
  const OneNode one = one_node("Cast", {x}, to);
  const Tensor wanted = touchstone::run(one.model, one.feeds).at("y").tensor();
  std::string kernel;
  const Tensor y = run_fast(one, &kernel);
  EXPECT_EQ(y.type(), to);
  EXPECT_EQ(y.shape(), wanted.shape());
  if (y.bytes().size() == wanted.bytes().size()) {
    EXPECT_EQ(std::memcmp(y.bytes().data(), wanted.bytes().data(), y.bytes().size()), 0);
  }
  return kernel;
}

const std::vector<Type> integers{Type::int8,  Type::uint8,  Type::int16, Type::uint16,
                                 Type::int32, Type::uint32, Type::int64, Type::uint64};

TEST(Cast, FloatsToIntegersAndBools) {
  const std::vector<long double> numbers{
      0,       -0.0L,    0.5L,    -0.5L,        1.75L,       -1.75L,        255.9L,       256,
      -129,    65536.5L, 0x1p31L, -0x1p31L - 1, 0x1p32L + 3, -0x1p53L - 1,  0x1p62L,      -0x1p62L,
      9.2e18L, -9.2e18L, 1e-30L,  16777217.75L, -32769.5L,   4294967295.5L, 2147483647.5L};
  for (const Type from : {Type::float32, Type::float64}) {
    for (const Type to : integers)
      EXPECT_THAT(cast(from, to, numbers), ::testing::HasSubstr("elements"));
    EXPECT_THAT(cast(from, Type::boolean, numbers), ::testing::HasSubstr("elements"));
  }
}

TEST(Cast, NumbersBeyond64BitsRunOnTheReference) {
  for (const Type from : {Type::float32, Type::float64}) {
    for (const long double number : {std::numeric_limits<long double>::quiet_NaN(), HUGE_VALL,
                                     -HUGE_VALL, 0x1p63L, -0x1p63L, 1e30L, -1e30L}) {
      for (const Type to : integers)
        EXPECT_THAT(cast(from, to, {1, number, 2}), ::testing::HasSubstr("reference"));
      EXPECT_THAT(cast(from, Type::boolean, {1, number, 0}), ::testing::HasSubstr("elements"));
    }
  }
}

TEST(Cast, IntegersToFloatsRoundToNearest) {
  const std::vector<long double> numbers{
      0,           1,        -1,         127,         -128,        255,         65535,
      16777217,    16777219, -16777217,  0x1p31L - 1, 0x1p53L + 1, 0x1p53L + 3, -0x1p53L - 1,
      0x1p63L - 1, -0x1p63L, 0x1p64L - 1};
  for (const Type from : integers) {
    for (const Type to : {Type::float32, Type::float64, Type::boolean})
      EXPECT_THAT(cast(from, to, numbers), ::testing::HasSubstr("elements"));
    for (const Type to : integers) cast(from, to, numbers);
  }
}

Tensor bools(const std::vector<std::uint8_t>& bytes) {
  Tensor made(Type::boolean, {static_cast<Index>(bytes.size())});
  std::memcpy(made.bytes().data(), bytes.data(), bytes.size());
  return made;
}

std::vector<int> bytes_of(const Tensor& tensor) {
  std::vector<int> made;
  for (const std::byte byte : tensor.bytes()) made.push_back(static_cast<int>(byte));
  return made;
}

TEST(Bools, EveryByteOtherThanZeroIsTrue) {
  const Tensor a = bools({0, 0, 1, 2, 2, 255}), b = bools({0, 4, 2, 1, 4, 0});
  EXPECT_THAT(bytes_of(run_fast(one_node("And", {a, b}))),
              ::testing::ElementsAre(0, 0, 1, 1, 1, 0));
  EXPECT_THAT(bytes_of(run_fast(one_node("Or", {a, b}))), ::testing::ElementsAre(0, 1, 1, 1, 1, 1));
  EXPECT_THAT(bytes_of(run_fast(one_node("Xor", {a, b}))),
              ::testing::ElementsAre(0, 1, 0, 0, 0, 1));
  EXPECT_THAT(bytes_of(run_fast(one_node("Equal", {a, b}))),
              ::testing::ElementsAre(1, 0, 1, 1, 1, 0));
  EXPECT_THAT(bytes_of(run_fast(one_node("And", {a, bools({2})}))),
              ::testing::ElementsAre(0, 0, 1, 1, 1, 1));
  for (const Type to : {Type::int8, Type::int64, Type::float32, Type::float64}) {
    const Tensor y = run_fast(one_node("Cast", {a}, to));
    for (Index k = 0; k < y.size(); ++k) EXPECT_EQ(number_at(y, k), k < 2 ? 0 : 1);
  }
}

}  // namespace
}  // namespace touchstone::optimized::elements_testing
