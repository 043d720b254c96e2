// Tests random draws in sessions: they are the reference's, bit by bit, with one thread and two.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone::optimized {
namespace {

using Feeds = std::map<std::string, Value>;

// Runs the only output of the net. Returns the kernels' names.
std::string kernels_of(const Net& net, const Feeds& feeds) {
  const Model model = net.model();
  const Tensor wanted = run(model, feeds).begin()->second.tensor();
  std::string kernels;
  for (const Index threads : {1, 2}) {
    Session session(model, {.threads = threads});
    EXPECT_TRUE(same_bytes(session.run(feeds).begin()->second.tensor(), wanted));
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  }
  return kernels;
}

constexpr Type floats[] = {Type::float32, Type::float64, Type::float16, Type::bfloat16};

TEST(Draws, OfAShape) {
  for (const char* const op : {"RandomUniform", "RandomNormal"}) {
    for (const Type type : floats) {
      SCOPED_TRACE(std::string(op) + " " + std::string(name(type)));
      Net net({2});
      net.opset(22);
      net.output(net.node(op, {}, {{"shape", {3, 5000}}}, {{"dtype", static_cast<Index>(type)}}),
                 type);
      net.real(op == std::string("RandomNormal") ? "mean" : "low", -2.5F);
      net.real("seed", 7);
      EXPECT_THAT(kernels_of(net, {{"x", whole({2}, 1)}}), ::testing::HasSubstr("draws"));
    }
  }
}

TEST(Draws, LikeAnInput) {
  for (const char* const op : {"RandomUniformLike", "RandomNormalLike"}) {
    SCOPED_TRACE(op);
    Net net({7, 900});
    net.opset(22);
    net.output(net.node(op, {"x"}));
    EXPECT_THAT(kernels_of(net, {{"x", whole({7, 900}, 1)}}), ::testing::HasSubstr("draws"));
  }
}

TEST(Draws, OfTrials) {
  Tensor chances(Type::float32, {9000});
  for (Index k = 0; k < 9000; ++k) chances.data<float>()[k] = static_cast<float>(k) / 8999;
  for (const Type type : {Type::float32, Type::int64, Type::int32, Type::boolean}) {
    Net net({9000});
    net.opset(22);
    net.output(net.node("Bernoulli", {"x"}, {}, {{"dtype", static_cast<Index>(type)}}), type);
    EXPECT_THAT(kernels_of(net, {{"x", chances}}), ::testing::HasSubstr("draws"));
  }
  chances.data<float>()[17] = 1.5F;
  Net net({9000});
  net.opset(22);
  net.output(net.node("Bernoulli", {"x"}));
  Session session(net.model(), {.threads = 1});
  EXPECT_THROW(session.run({{"x", chances}}), Error);
}

TEST(Draws, OfClasses) {
  for (const Type type : {Type::int32, Type::int64}) {
    Net net({5, 300});
    net.opset(22);
    net.output(net.node("Multinomial", {"x"}, {},
                        {{"sample_size", 40}, {"dtype", static_cast<Index>(type)}}),
               type);
    EXPECT_THAT(kernels_of(net, {{"x", whole({5, 300}, 1)}}), ::testing::HasSubstr("draws"));
  }
}

}  // namespace
}  // namespace touchstone::optimized
