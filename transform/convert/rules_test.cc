// Tests rules of spec/conversions where both versions run: the outputs before and after are the
// same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/numbers/convert.h"
#include "model/testing.h"
#include "reference/interpreter.h"
#include "reference/lists.h"
#include "transform/convert/convert.h"

namespace touchstone::transform {
namespace {

using testing::attribute;
using testing::floats;
using testing::node;
using testing::value;

using Dims = std::vector<Dim>;

Dims dims(const Shape& sizes) {
  Dims all;
  for (const Index size : sizes) all.push_back({size, ""});
  return all;
}

// Sizes that the file leaves open.
Dims symbols(std::size_t rank) {
  Dims all;
  for (std::size_t k = 0; k < rank; ++k) all.push_back({{}, "s" + std::to_string(k)});
  return all;
}

Tensor filled(const Shape& shape, Type type = Type::float32) {
  Tensor made(type, shape);
  for (Index k = 0; k < made.size(); ++k)
    set_number(made, k, 0.37L * static_cast<long double>(k % 7) - 1);
  return made;
}

Model model_of(Node one, std::optional<Dims> shape, Index opset, Type type = Type::float32,
               std::map<std::string, Tensor> constants = {}) {
  Model model = testing::model(
      testing::graph({std::move(one)}, {value("X", tensor_type(type), std::move(shape))},
                     {value("Y", tensor_type(type))}),
      opset);
  model.graph.initializers = std::move(constants);
  require_valid(model, {});
  return model;
}

Model converted(const Model& model, Index opset) { return convert(model, {{"", opset}}, {}).model; }

Tensor output(const Model& model, const Tensor& fed) {
  return run(model, {{"X", fed}}).at("Y").tensor();
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_TRUE(a.bytes().empty() ||
              std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0);
}

Index nodes_of(const Model& model, const std::string& op) {
  return std::count_if(model.graph.nodes.begin(), model.graph.nodes.end(),
                       [&](const Node& one) { return one.op == op; });
}

// A Reshape to a size of 0 keeps the size at that place: rows without elements need their own way.
TEST(ConversionRules, RowsOfManyDimensionsMayBeEmpty) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    for (const Index axis : {0, 1, 2, -1, -2, -3}) {
      const Node one = node(op, {"X"}, {"Y"}, {{"axis", attribute(axis)}});
      const Model open = model_of(one, symbols(3), 11), unknown = model_of(one, std::nullopt, 11);
      for (const Shape& sizes : std::vector<Shape>{
               {2, 3, 4}, {1, 1, 1}, {0, 0, 0}, {2, 0, 3}, {0, 2, 3}, {2, 3, 0}, {2, 0, 0}}) {
        SCOPED_TRACE(std::string(op) + " " + std::to_string(axis) + " " + text(sizes));
        const Tensor fed = filled(sizes);
        for (const Model& model : {open, unknown, model_of(one, dims(sizes), 11)})
          expect_same_bits(output(converted(model, 13), fed), output(model, fed));
      }
    }
  }
}

TEST(ConversionRules, RowsOfKnownSizesNeedTwoReshapesAlone) {
  Dims shape = dims({0, 10, 1, 1});
  shape[0] = {{}, "N"};
  const Model made = converted(model_of(node("Softmax", {"X"}, {"Y"}), shape, 11), 13);
  EXPECT_EQ(made.graph.nodes.size(), 3U);
  EXPECT_EQ(nodes_of(made, "Reshape"), 2);
}

// Until version 11 each element was a row where the axis was the rank.
TEST(ConversionRules, AnAxisThatIsTheRank) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    for (const Shape& sizes : std::vector<Shape>{{}, {3}, {2, 3}, {0}}) {
      const Index rank = sizes.size();
      const Node one = node(op, {"X"}, {"Y"}, {{"axis", attribute(rank)}});
      const Tensor fed = filled(sizes);
      for (const Model& model : {model_of(one, dims(sizes), 1), model_of(one, std::nullopt, 1)}) {
        for (const Index opset : {11, 13})
          expect_same_bits(output(converted(model, opset), fed), output(model, fed));
      }
    }
    const Node last = node(op, {"X"}, {"Y"}, {{"axis", attribute(Index{1})}});
    EXPECT_EQ(converted(model_of(last, dims({2, 3}), 1), 11).graph.nodes.size(), 1U);
  }
}

// Until version 21 a group was normalised and scaled as a whole, so that it was rounded once.
TEST(ConversionRules, GroupsOfNarrowFloatsAreRoundedOnce) {
  for (const Type type : {Type::float16, Type::bfloat16, Type::float32, Type::float64}) {
    const Node one = node("GroupNormalization", {"X", "scale", "bias"}, {"Y"},
                          {{"num_groups", attribute(Index{2})}});
    const Model model = model_of(one, dims({2, 4, 5}), 18, type,
                                 {{"scale", filled({2}, type)}, {"bias", filled({2}, type)}});
    const Tensor fed = filled({2, 4, 5}, type);
    expect_same_bits(output(converted(model, 21), fed), output(model, fed));
  }
}

TEST(ConversionRules, FeaturesWithStatisticsOfTheirOwnMayBeEmpty) {
  const auto normalised = [](const Shape& features, const Dims& shape) {
    const Tensor some = filled(features);
    Tensor ones(Type::float32, features);
    std::fill_n(ones.data<float>(), ones.size(), 1.0F);
    const Node one = node("BatchNormalization", {"X", "scale", "B", "mean", "var"}, {"Y"},
                          {{"spatial", attribute(Index{0})}});
    return model_of(one, shape, 7, Type::float32,
                    {{"scale", some}, {"B", some}, {"mean", some}, {"var", ones}});
  };
  for (const Shape& sizes : std::vector<Shape>{{2, 3, 4}, {0, 3, 4}, {2, 3}}) {
    const Shape features = tail(sizes, 1);
    for (const Dims& shape : {dims(sizes), symbols(static_cast<std::size_t>(sizes.size()))}) {
      const Model model = normalised(features, shape);
      expect_same_bits(output(converted(model, 9), filled(sizes)), output(model, filled(sizes)));
    }
  }
  testing::thrown("convert/BatchNormalization-7", [&] {
    converted(normalised({3, 0}, dims({2, 3, 0})), 9);
  });
}

// Version 9 has one output or five.
TEST(ConversionRules, TrainingKeepsTheStatisticsAndNamesTheSavedOnes) {
  const Tensor some = filled({3});
  Tensor ones(Type::float32, {3});
  std::fill_n(ones.data<float>(), 3, 1.0F);
  using Names = std::vector<std::string>;
  for (const Names& outputs : {Names{"Y"}, Names{"Y", "", "v"}, Names{"Y", "m", "v"}}) {
    const Node one = node("BatchNormalization", {"X", "scale", "B", "mean", "var"}, outputs,
                          {{"training_mode", attribute(Index{1})}});
    const Model model = model_of(one, dims({2, 3, 4}), 15, Type::float32,
                                 {{"scale", some}, {"B", some}, {"mean", some}, {"var", ones}});
    for (const Index opset : {9, 13}) {
      Model old = converted(model, opset);
      require_valid(old, {});
      EXPECT_EQ(old.graph.nodes[0].outputs.size(), 5U);
      expect_same_bits(output(old, filled({2, 3, 4})), output(model, filled({2, 3, 4})));
    }
  }
}

// [1:3] of a size that the file leaves open may have fewer than two elements.
TEST(ConversionRules, RowsOfASliceHaveFewerElementsWhereTheInputHas) {
  Model model = testing::model(
      testing::graph({node("Slice", {"X", "starts", "ends"}, {"part"}),
                      node("Softmax", {"part"}, {"Y"}, {{"axis", attribute(Index{0})}})},
                     {value("X", tensor_type(Type::float32), symbols(2))}, {floats("Y")}),
      12);
  for (const auto& [name, item] : {std::pair{"starts", Index{1}}, std::pair{"ends", Index{3}}}) {
    Tensor list(Type::int64, {1});
    list.data<Index>()[0] = item;
    model.graph.initializers.emplace(name, std::move(list));
  }
  require_valid(model, {});
  const Model made = converted(model, 13);
  for (const Shape& sizes : std::vector<Shape>{{9, 2}, {2, 2}, {1, 2}})
    expect_same_bits(output(made, filled(sizes)), output(model, filled(sizes)));
}

// Version 14 has one type for the input, the scale and the offset. Products of few digits are exact
// before they are rounded, in whatever type.
TEST(ConversionRules, AScaleOfAnotherTypeIsConverted) {
  const auto normalised = [](Type type, Type scale) {
    const auto each = [&](long double first, long double step) {
      Tensor made(scale, {3});
      for (Index k = 0; k < 3; ++k) set_number(made, k, first + step * static_cast<long double>(k));
      return made;
    };
    const Node one = node("BatchNormalization", {"X", "scale", "B", "mean", "var"}, {"Y"},
                          {{"epsilon", attribute(0.0F)}});
    return model_of(
        one, dims({2, 3, 4}), 15, type,
        {{"scale", each(1, 0.1L)}, {"B", each(0, 0)}, {"mean", each(1, 1)}, {"var", each(4, 0)}});
  };
  Tensor fed(Type::float32, {2, 3, 4});
  for (Index k = 0; k < fed.size(); ++k) fed.data<float>()[k] = static_cast<float>(k % 7 - 3);
  for (const Type scale : {Type::float32, Type::float64, Type::float16}) {
    const Model model = normalised(Type::float32, scale);
    Model made = converted(model, 14);
    require_valid(made, {});
    EXPECT_EQ(nodes_of(made, "Cast"), scale == Type::float32 ? 0 : 2);
    expect_same_bits(output(made, fed), output(model, fed));
  }
  testing::thrown("convert/BatchNormalization-15",
                  [&] { converted(normalised(Type::float16, Type::float32), 14); });
}

// Version 13 has one type for the input and its scale, so it takes no integers beside a float
// scale.
TEST(ConversionRules, AVersionThatBindsMoreTypesRefusesOthers) {
  Tensor scale(Type::float32, {});
  scale.data<float>()[0] = 2;
  Model model = testing::model(testing::graph({node("QuantizeLinear", {"X", "scale"}, {"Y"})},
                                              {value("X", tensor_type(Type::int32), dims({2}))},
                                              {value("Y", tensor_type(Type::uint8))}),
                               13);
  model.graph.initializers.emplace("scale", std::move(scale));
  require_valid(model, {});
  const Error refusal = testing::thrown("convert/QuantizeLinear-13", [&] { converted(model, 19); });
  EXPECT_NE(refusal.message.find("QuantizeLinear-19 binds types"), std::string::npos)
      << refusal.message;
}

// A limit that is left out is the least or greatest finite number of the type.
TEST(ConversionRules, LimitsThatAreLeftOutHoldForInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Type type : {Type::float32, Type::float16}) {
    Tensor fed(type, {3});
    set_number(fed, 0, -static_cast<long double>(infinity));
    set_number(fed, 2, infinity);
    const Model model = model_of(node("Clip", {"X"}, {"Y"}), dims({3}), 11, type);
    for (const Index opset : {6, 1})
      expect_same_bits(output(converted(model, opset), fed), output(model, fed));
  }
  const Model wide = model_of(node("Clip", {"X"}, {"Y"}), dims({3}), 11, Type::float64);
  testing::thrown("convert/Clip-11", [&] { converted(wide, 6); });
}

// Until version 11 limits are attributes with defaults, the ends of float whatever the type.
TEST(ConversionRules, DefaultsOfLimitsHoldForInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Type type : {Type::float32, Type::float64, Type::float16}) {
    Tensor fed(type, {2});
    set_number(fed, 0, -static_cast<long double>(infinity));
    set_number(fed, 1, infinity);
    const Model model = model_of(node("Clip", {"X"}, {"Y"}), dims({2}), 6, type);
    for (const Index opset : {1, 11})
      expect_same_bits(output(converted(model, opset), fed), output(model, fed));
  }
}

// Until version 7 a slope of one element had any rank.
TEST(ConversionRules, ASlopeOfOneElementHasTheRankOfTheInput) {
  for (const auto& [x, slope] : std::vector<std::pair<Shape, Shape>>{
           {{}, {1}}, {{3}, {1}}, {{3}, {1, 1}}, {{2, 3, 4}, {1}}, {{2, 3, 4}, {3}}}) {
    Model model = model_of(node("PRelu", {"X", "slope"}, {"Y"}), dims(x), 6, Type::float32,
                           {{"slope", Tensor(Type::float32, {1})}});
    model.graph.initializers.clear();
    model.graph.inputs.push_back(value("slope", tensor_type(Type::float32),
                                       symbols(static_cast<std::size_t>(slope.size()))));
    require_valid(model, {});
    const std::map<std::string, Value> feeds{{"X", filled(x)}, {"slope", filled(slope)}};
    expect_same_bits(run(converted(model, 7), feeds).at("Y").tensor(),
                     run(model, feeds).at("Y").tensor());
  }
}

// Version 1 has an attribute that means nothing.
TEST(ConversionRules, LimitsOfVersion1StandBesideAnIdleAttribute) {
  const Tensor fed = filled({7});
  const std::map<std::string, float> limits{{"min", -0.5F}, {"max", 0.5F}};
  for (const std::string given : {"", "min", "max", "min max"}) {
    Node one = node("Clip", {"X"}, {"Y"}, {{"consumed_inputs", attribute(std::vector<Index>{0})}});
    for (const auto& [name, limit] : limits) {
      if (given.find(name) != std::string::npos) one.attributes[name] = attribute(limit);
    }
    const Model model = model_of(one, dims({7}), 1);
    expect_same_bits(output(converted(model, 6), fed), output(model, fed));
  }
}

// From version 11 on, scales of no elements are none.
TEST(ConversionRules, ANumberIsResizedByScalesOfNoElements) {
  const Tensor fed = filled({});
  for (const Index opset : {9, 10}) {
    const Node one = node(opset == 9 ? "Upsample" : "Resize", {"X", "scales"}, {"Y"},
                          {{"mode", attribute(std::string("linear"))}});
    const std::map<std::string, Tensor> scales{{"scales", testing::tensor({})}};
    for (const std::optional<Dims>& shape : {std::optional<Dims>(Dims{}), std::optional<Dims>()}) {
      const Model model = model_of(one, shape, opset, Type::float32, scales);
      expect_same_bits(output(converted(model, 18), fed), output(model, fed));
    }
  }
  Model open = model_of(node("Resize", {"X", "X"}, {"Y"}), {}, 10);
  open.graph.nodes[0].attributes["mode"] = attribute(std::string("linear"));
  testing::thrown("convert/Resize-10", [&] { converted(open, 11); });
}

TEST(ConversionRules, AModeThatOnlyVersion11HasIsRefused) {
  const Node one =
      node("Resize", {"X", "", "scales"}, {"Y"},
           {{"coordinate_transformation_mode", attribute(std::string("tf_half_pixel_for_nn"))}});
  const Model model =
      model_of(one, dims({4}), 18, Type::float32, {{"scales", testing::tensor({1})}});
  testing::thrown("convert/Resize-18", [&] { converted(model, 17); });
}

// Version 25 refuses numbers of heads beside inputs that say them by their shape.
class Heads : public ::testing::Test {
 protected:
  static Model attention(std::optional<Dims> shape, std::vector<std::string> outputs = {"Y"},
                         std::vector<std::string> more = {}) {
    std::vector<std::string> inputs{"X", "X", "X"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    const Node one = node("Attention", inputs, std::move(outputs),
                          {{"q_num_heads", attribute(Index{2})},
                           {"kv_num_heads", attribute(Index{2})},
                           {"scale", attribute(0.5F)}});
    return model_of(one, std::move(shape), 24, Type::float32,
                    {{"filled", Tensor(Type::int64, {2})}});
  }
};

TEST_F(Heads, AreLeftOutBesideFourDimensions) {
  const Model model = attention(dims({2, 2, 3, 4}));
  const Model made = converted(model, 25);
  EXPECT_EQ(made.graph.nodes[0].attributes.size(), 1U);
  expect_same_bits(output(made, filled({2, 2, 3, 4})), output(model, filled({2, 2, 3, 4})));
}

TEST_F(Heads, StayBesideThree) {
  EXPECT_EQ(converted(attention(dims({2, 3, 4})), 25).graph.nodes[0].attributes.size(), 3U);
}

TEST_F(Heads, AreRefusedWhereTheRankIsNotKnown) {
  testing::thrown("convert/Attention-24", [] { converted(attention(std::nullopt), 25); });
}

TEST_F(Heads, NoCacheIsAnOutputBesideOneThatIsKeptOutside) {
  const std::vector<std::string> outside{"", "", "", "filled"};
  EXPECT_NO_THROW(converted(attention(dims({2, 2, 3, 4}), {"Y"}, outside), 25));
  testing::thrown("convert/Attention-24", [&] {
    converted(attention(dims({2, 2, 3, 4}), {"Y", "keys"}, outside), 25);
  });
}

}  // namespace
}  // namespace touchstone::transform
