// Tests lines of cases: their values, their errors, and that both are the same on every machine.
#include "conformance/suites/line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/suites/line_data.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "model/model.h"

namespace touchstone::suites {
namespace {

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> all;
  for (Index k = 0; k < tensor.size(); ++k)
    all.push_back(static_cast<double>(number_at(tensor, k)));
  return all;
}

TEST(Line, SaysInputsAttributesOutputsAndARule) {
  const Line line = parse_line(
      R"(LSTM-14(float[1,1,1]{1}, *float[1,4,1]{1,2}, float[1,4,1]{0}, _, int32[b=1]{1}) )"
      R"(activations=["Relu","Tanh","Relu"] clip=2.5 hidden_size=1 -> x_x !LSTM-14/C1)");
  EXPECT_EQ(line.signature->op, "LSTM");
  ASSERT_EQ(line.inputs.size(), 5U);
  EXPECT_FALSE(line.inputs[0].held);
  EXPECT_TRUE(line.inputs[1].held);
  EXPECT_EQ(numbers(line.inputs[1].value.tensor()), (std::vector<double>{1, 2, 1, 2}));
  EXPECT_TRUE(line.inputs[3].value.absent());
  EXPECT_EQ(line.inputs[4].dims.at(0).symbol, "b");
  EXPECT_EQ(std::get<std::vector<std::string>>(line.attributes.at("activations").is),
            (std::vector<std::string>{"Relu", "Tanh", "Relu"}));
  EXPECT_EQ(std::get<float>(line.attributes.at("clip").is), 2.5F);
  EXPECT_EQ(std::get<Index>(line.attributes.at("hidden_size").is), 1);
  EXPECT_EQ(line.outputs, "x_x");
  EXPECT_EQ(line.refused, "LSTM-14/C1");
}

TEST(Line, SaysValuesOfEveryKind) {
  const Line line = parse_line(
      "SequenceInsert-11(seq(tensor(float)){float[2]{1}, float[0]~real}, float[]{-inf}, "
      "int64[]{1})");
  const auto& sequence = std::get<Sequence>(line.inputs[0].value.is);
  ASSERT_EQ(sequence.items.size(), 2U);
  EXPECT_EQ(numbers(sequence.items[0].tensor()), (std::vector<double>{1, 1}));
  const Line map = parse_line(
      "ai.onnx.ml.DictVectorizer-1(map(string,tensor(float)){\"a\":1.5,\"b c\":2}) "
      "string_vocabulary=[\"a\"]");
  const auto& held = std::get<Map>(map.inputs[0].value.is);
  EXPECT_EQ(numbers(held.by_string.at("b c").tensor()), (std::vector<double>{2}));
}

TEST(Line, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "Relu", "Relu-3(float[1]{1})", "Relu-14(float[1]{1}", "Relu-14(flat[1]{1})",
        "Relu-14(float[-1]{1})", "Relu-14(float[2]~nice)", "Relu-14(float[2]{})",
        "Relu-14(float[2]{x})", "Relu-14(float[2]{\"a\"})", "Relu-14(float[2]{1}) alpha",
        "OptionalHasElement-15(optional(tensor(float)){int64[1]{1}})", "Nobody-1()"}) {
    EXPECT_THROW(parse_line(text), Error) << text;
  }
}

TEST(Line, RefusesIntegersThatNeedMoreThan64Bits) {
  for (const char* text :
       {"Concat-13(float[2]{1}) axis=1e30", "Concat-13(float[2]{1}) axis=nan",
        "Transpose-13(float[2]{1}) perm=[0,-1e19]", "Relu-14(float[2]{1}) other=inf",
        "Relu-14(float[2]{1}) other=[9223372036854775808]",
        "ai.onnx.ml.DictVectorizer-1(map(int64,tensor(float)){1e30:1}) int64_vocabulary=[1]"}) {
    EXPECT_THROW(parse_line(text), Error) << text;
  }
  const Line least = parse_line("Concat-13(float[2]{1}) axis=-9223372036854775808");
  EXPECT_EQ(std::get<Index>(least.attributes.at("axis").is), std::numeric_limits<Index>::min());
}

TEST(Line, RefusesValuesAndTypesThatNestWithoutAnEnd) {
  std::string values, deep;
  for (int k = 0; k < 100'000; ++k) values += "seq(tensor(float)){";
  for (int k = 0; k < 200'000; ++k) deep += "seq(";
  deep += "tensor(float)" + std::string(200'000, ')');
  for (const std::string& nested : {values, deep + "{}"}) {
    try {
      parse_line("Identity-16(" + nested + ")");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind == ErrorKind::usage || error.kind == ErrorKind::limit);
    }
  }
}

TEST(Line, RuleStandsBehindTheLastMark) {
  EXPECT_EQ(rule_of_line("Relu-14(float[1]{1}) !Relu-14/C1"), "Relu-14/C1");
  EXPECT_EQ(rule_of_line("Relu-14(float[1]{1})"), "");
  EXPECT_EQ(rule_of_line(R"(StringConcat-20(string[1]{" !a"}, string[1]{"b"}))"), "");
}

TEST(Line, HoldsTheSameValuesWithItsRuleAndWithout) {
  const Line plain = parse_line("Relu-14(float[4]~real)");
  const Line refused = parse_line("Relu-14(float[4]~real) !Relu-14/C1");
  EXPECT_EQ(numbers(plain.inputs[0].value.tensor()), numbers(refused.inputs[0].value.tensor()));
  EXPECT_EQ(refused.refused, "Relu-14/C1");
}

TEST(LineModel, IsOneNodeInTheNewestOpsetOfItsVersion) {
  const LineModel made = model_of(parse_line("Clip-6(float[n=2]{-1,5}) max=1"));
  EXPECT_EQ(made.model.opsets.at(""), 10);
  ASSERT_EQ(made.model.graph.nodes.size(), 1U);
  EXPECT_EQ(made.model.graph.inputs.at(0).shape->at(0).symbol, "n");
  EXPECT_EQ(made.model.graph.outputs.at(0).type->element, Type::float32);
  EXPECT_EQ(made.feeds.size(), 1U);
}

TEST(LineModel, DeclaresWhatTheDefinitionGives) {
  const LineModel made = model_of(parse_line("Cast-13(float[2]{1}) to=11"));
  EXPECT_EQ(made.model.graph.outputs.at(0).type->element, Type::float64);
}

// The values of lines are a contract: results of different days are compared.
TEST(LineData, IsTheSameEverywhere) {
  Tensor real(Type::float32, {3}), whole(Type::int8, {4});
  fill(real, "real", 1);
  fill(whole, "special", 1);
  EXPECT_EQ(numbers(real), (std::vector<double>{1.72434807F, -0.10407605F, -0.701900184F}));
  EXPECT_EQ(numbers(whole), (std::vector<double>{-63, 2, 1, -1}));
}

TEST(LineData, EveryRegimeFillsEveryType) {
  for (int code = 1; code <= 28; ++code) {
    for (const char* regime : {"whole", "logs", "cancel", "giant", "special", "constant", "two",
                               "real", "unit", "size", "far", "positive", "above"}) {
      Tensor tensor(static_cast<Type>(code), {40});
      fill(tensor, regime, 7);
      if (static_cast<Type>(code) == Type::string) continue;
      const auto bytes = tensor.bytes();
      EXPECT_TRUE(
          std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; }))
          << name(static_cast<Type>(code)) << " " << regime;
    }
  }
}

// Sums of doubles whose last bits agree have rounding errors that agree.
TEST(LineData, DoublesAreRandomToTheirLastBits) {
  for (const char* regime : {"real", "far", "cancel", "above"}) {
    Tensor doubles(Type::float64, {512});
    fill(doubles, regime, 7);
    int lower = 0;
    for (const double x : numbers(doubles)) {
      const double places = std::ldexp(x, 36);  // a fraction that a step of 2^-32 leaves alone
      lower += places - std::floor(places) < 0.5;
    }
    EXPECT_GT(lower, 200) << regime;
    EXPECT_LT(lower, 312) << regime;
  }
}

}  // namespace
}  // namespace touchstone::suites
