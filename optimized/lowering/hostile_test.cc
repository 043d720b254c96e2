// Tests families on calls that few models make: omitted bounds and modes, sizes beyond limits, and
// keys that collide. Results and errors are the reference's.
#include <gmock/gmock.h>

#include <limits>

#include "optimized/lowering/flow_testing.h"
#include "optimized/lowering/ml_testing.h"

namespace touchstone::optimized::flow {
namespace {

constexpr Index most = std::numeric_limits<Index>::max();
constexpr Type floats[] = {Type::float16, Type::bfloat16, Type::float32, Type::float64};

Tensor reals(Type type, const Shape& shape, const std::vector<double>& items) {
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k)
    set_number(made, k, items[static_cast<std::size_t>(k) % items.size()]);
  return made;
}

TEST(Hostile, ModesAreThoseOfTheDefinition) {
  const Feeds boxes{{"x", reals(Type::float64, {1, 1, 2, 2}, {1, 2, 4, 9})},
                    {"rois", reals(Type::float64, {1, 4}, {0, 0, 1, 1})}};
  for (const Index opset : {10, 16, 22}) {
    SCOPED_TRACE(opset);
    const Build build =
        Build().hold("image", list({0})).node("RoiAlign", {"x", "rois", "image"}, {"y"}).out("y");
    same(build, boxes, opset);
  }
}

TEST(Hostile, OmittedBoundsAreTheEndsOfTheType) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Type type : floats) {
    for (const Index opset : {11, 12, 13}) {
      if (type == Type::bfloat16 && opset < 13) continue;
      const Tensor x = reals(type, {6}, {infinity, -infinity, 1e300, -1e300, 3, 0.5});
      const Tensor two = reals(type, {}, {2});
      for (const std::vector<std::string>& inputs :
           {std::vector<std::string>{"x"}, {"x", "two"}, {"x", "", "two"}}) {
        SCOPED_TRACE(std::string(name(type)) + " " + std::to_string(inputs.size()));
        Feeds feeds{{"x", x}};
        if (inputs.size() > 1) feeds.emplace("two", two);
        const Build build = Build().node("Clip", inputs, {"y"}).out("y");
        EXPECT_THAT(ml::check(model_of(build, feeds, opset), feeds),
                    ::testing::Not(::testing::HasSubstr("reference")));
      }
    }
  }
}

TEST(Hostile, AxesOfOldVersionsThatOverflow) {
  for (const Index axis :
       {std::numeric_limits<Index>::min(), Index{-1}, Index{0}, Index{2}, most}) {
    for (const Shape& shape : {Shape{1}, Shape{3}, Shape{2, 3}}) {
      SCOPED_TRACE(axis);
      const Feeds feeds{{"x", numbers(Type::int64, {6}, {1, 2, 3, 4, 5, 6})},
                        {"shape", list({2, 3})},
                        {"z", numbers(Type::int64, shape, {7, -8})}};
      const Build build =
          Build()
              .node("Reshape", {"x", "shape"}, {"a"})
              .node("Add", {"a", "z"}, {"y"}, {{"broadcast", integer(1)}, {"axis", integer(axis)}})
              .out("y");
      same(build, feeds, 6);
    }
  }
}

TEST(Hostile, SizesBeyondLimits) {
  const Tensor x = numbers(Type::int32, {3, 4}, {1, 2, 3});
  const auto check = [&](const std::string& op, const std::vector<Index>& fed) {
    SCOPED_TRACE(op + " " + touchstone::text(list(fed).shape()));
    same(Build().node(op, {"x", "fed"}, {"y"}).out("y"), {{"x", x}, {"fed", list(fed)}});
  };
  for (const std::vector<Index>& fed :
       {std::vector<Index>{5, most}, {most, most}, {most, 2}, {most, -7}, {most, 0}}) {
    check("CenterCropPad", fed);
    check("Tile", fed);
  }
  for (const std::vector<Index>& fed : {std::vector<Index>{0, -5, 0, most}, {0, most, 0, 0}})
    check("Pad", fed);
}

// A product packs two matrices of a megabyte, beside an output of one and the plan's own memory for
// it: they count together.
TEST(Hostile, ScratchBuffersOfAStepCountAsMemory) {
  constexpr Index n = 512;
  const Tensor x = numbers(Type::int32, {n, n}, {1, -2, 3});
  const Feeds feeds{{"x", x}, {"z", x}};
  const Attribute equation{std::string("ij,kj->ki"), {}, {}};
  const Build build = Build().node("Einsum", {"x", "z"}, {"y"}, {{"equation", equation}}).out("y");
  const Model model = model_of(build, feeds, 12);
  for (const Index quarters : {11, 18}) {
    Limits limits;
    limits.memory = quarters << 18;
    Session session(model, {.threads = 1, .limits = limits});
    if (quarters == 18)
      EXPECT_NO_THROW(session.run(feeds));
    else
      EXPECT_THROW(session.run(feeds), Error);
  }
}

// Keys whose hash values are the same, or are neighbours: each search would pass all of them.
TEST(Hostile, KeysThatCollide) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::uint64_t inverse = golden;
  for (int k = 0; k < 6; ++k) inverse *= 2 - golden * inverse;
  ASSERT_EQ(golden * inverse, 1U);
  constexpr Index many = 20'000, bits = 16;  // of the number of slots
  for (const bool same_slot : {true, false}) {
    std::vector<Index> keys, values;
    for (Index k = 0; k < many; ++k) {
      const auto at = static_cast<std::uint64_t>(k) << (same_slot ? 0 : 64 - bits);
      keys.push_back(static_cast<Index>(at * inverse));
      values.push_back(k);
    }
    const ml::Feeds feeds{{"x", list({keys[0], keys[7], 3})}};
    const Model model = ml::one_node(
        "LabelEncoder",
        {{"keys_int64s", ml::attribute(keys)}, {"values_int64s", ml::attribute(values)}}, feeds,
        {Type::int64});
    EXPECT_EQ(ml::check(model, feeds), "reference; ");
  }
}

}  // namespace
}  // namespace touchstone::optimized::flow
