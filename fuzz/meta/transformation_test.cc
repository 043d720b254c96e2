// Shows that each transformation makes a model of the same meaning: on drawn cases the reference
// gives the same outputs.
#include "fuzz/meta/transformation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "conformance/targets/target.h"
#include "core/error.h"
#include "core/scratch.h"
#include "fuzz/examine.h"
#include "fuzz/graph/graph_source.h"
#include "fuzz/line_source.h"
#include "fuzz/meta/meta_source.h"
#include "fuzz/meta/reference_runs.h"
#include "fuzz/op/source.h"
#include "fuzz/runner.h"
#include "fuzz/source_of.h"

namespace touchstone::fuzz {
namespace {

using ::testing::HasSubstr;

const Source& operators() {
  static const OperatorSource one({.invalid_percent = 0});
  return one;
}
const Source& graphs() {
  static const GraphSource one;
  return one;
}

Case with(const std::string& line, const std::string& recipe) {
  Case made = case_of_line(line);
  made.transformation = recipe;
  return made;
}

// Returns the first recipe of the transformation that applies, "" if none does.
std::string first_recipe(const Transformation& one, const Case& to) {
  try {
    for (const std::string& parameter : one.parameters(to)) {
      Case tried = to;
      tried.transformation = std::string(one.name) + (parameter.empty() ? "" : "=" + parameter);
      try {
        (void)transformed(tried);
        return tried.transformation;
      } catch (const Error& error) {
        EXPECT_NE(error.kind, ErrorKind::internal) << text_of(tried) << ": " << error.message;
      }
    }
  } catch (const Error& error) {
    EXPECT_NE(error.kind, ErrorKind::internal) << to.text << ": " << error.message;
  }
  return "";
}

class EachTransformation : public ::testing::TestWithParam<Transformation> {};

TEST_P(EachTransformation, MeansTheSameToTheReference) {
  const Transformation& one = GetParam();
  const Scratch scratch;
  const auto runner = run_in_process(targets::make_reference(), scratch.path());
  constexpr int wanted = 8;
  int applied = 0, counted = 0;
  for (std::uint64_t number = 0; number < 400 && applied < wanted; ++number) {
    Case made;
    try {
      made = (number % 4 == 0 ? graphs() : operators()).make(number);
    } catch (const Error&) {
      continue;
    }
    made.transformation = first_recipe(one, made);
    if (made.transformation.empty()) continue;
    ++applied;
    const Outcome found = examine(made, *runner, [](std::string_view) {});
    EXPECT_FALSE(found.is_finding())
        << text_of(made) << ": " << found.verdict << " " << found.detail;
    const std::string& verdict = found.verdict;
    counted += verdict == "exact" || verdict == "within" || verdict == "open" ||
               (one.of_fast && verdict == "unsupported");
  }
  EXPECT_EQ(applied, wanted);
  EXPECT_GE(counted, wanted / 2);
}

INSTANTIATE_TEST_SUITE_P(All, EachTransformation, ::testing::ValuesIn(all_transformations()),
                         [](const auto& one) {
                           std::string name(one.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Transformations, AnIdentityStandsBehindEachValue) {
  const Variant after = transformed(with("Neg-13(float[2,3]~real)", "identity=values"));
  ASSERT_EQ(after.is.model.graph.nodes.size(), 2);
  EXPECT_EQ(after.is.model.graph.nodes[1].op, "Identity");
  EXPECT_EQ(after.is.model.graph.nodes[1].outputs.front(), after.is.model.graph.outputs[0].name);
  EXPECT_EQ(after.same_bits, SameBits::on_our_own);
}

TEST(Transformations, ABatchIsSplitWhereTheReferenceComputesItsPartsApart) {
  const Case one = with("Add-14(float[4,3]~real, float[3]~real)", "split=0:1:all");
  const Variant after = transformed(one);
  ASSERT_EQ(after.is.feeds.size(), 2);
  const std::string& split = one.model.graph.inputs[0].name;
  EXPECT_EQ(after.is.feeds[0].at(split).tensor().shape(), (Shape{1, 3}));
  EXPECT_EQ(after.is.feeds[1].at(split).tensor().shape(), (Shape{3, 3}));
  EXPECT_EQ(after.back(reference_runs(after.is)).at(0).begin()->second.tensor().shape(),
            (Shape{4, 3}));
  EXPECT_THROW(transformed(with("Softmax-13(float[4,3]~real) axis=0", "split=0:2:all")), Error);
  EXPECT_THROW(transformed(with("CumSum-14(float[4]~real, *int64[]{0})", "split=0:2:all")), Error);
  EXPECT_NO_THROW(transformed(with("Softmax-13(float[4,3]~real) axis=1", "split=0:2:all")));
}

// Before version 14 more outputs mean training.
TEST(Transformations, AnOutputThatSelectsAModeIsNotNamed) {
  const std::string inputs =
      "(float[2,2]~real, float[2]~real, float[2]~real, float[2]~real, float[2]{1})";
  EXPECT_THROW(transformed(with("BatchNormalization-9" + inputs, "outputs=omitted")), Error);
  const Variant named =
      transformed(with("MaxPool-12(float[1,1,4]~real) kernel_shape=[2]", "outputs=omitted"));
  EXPECT_EQ(named.is.model.graph.nodes[0].outputs.size(), 2);
}

TEST(Transformations, ABodyOfTheStandardStandsForTheOperator) {
  const Variant after = transformed(with("Softsign-22(float[3]~real)", "body"));
  ASSERT_EQ(after.is.model.functions.size(), 1);
  EXPECT_GE(after.is.model.functions[0]->nodes.size(), 3);
  const Variant attribute = transformed(with("LeakyRelu-16(float[3]~real) alpha=0.5", "body"));
  EXPECT_EQ(attribute.is.model.graph.nodes[0].attributes.size(), 1);
}

TEST(Transformations, AnOpsetIsConvertedUpAndDown) {
  const std::string line = "Squeeze-13(float[1,3]~real, *int64[1]{0})";
  EXPECT_EQ(transformed(with(line, "opset-up=21")).is.model.opsets.at(""), 21);
  const Variant down = transformed(with(line, "opset-down=11"));
  EXPECT_EQ(down.is.model.graph.nodes[0].attributes.count("axes"), 1);
  EXPECT_EQ(label_of("opset-down=11"), "opset-down");
  EXPECT_EQ(label_of("pass=drop-dead"), "pass=drop-dead");
}

TEST(Transformations, AWrongRecipeIsNamed) {
  try {
    (void)transformed(with("Neg-13(float[2]~real)", "identity-values"));
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_THAT(error.message, HasSubstr("identity-values"));
  }
}

TEST(MetaSource, ANumberDrawsOnePairAndAllTransformationsOccur) {
  const std::unique_ptr<Source> source = source_of("meta", "", "fast:threads=1");
  std::set<std::string> labels;
  int made = 0;
  constexpr std::uint64_t count = 500;
  for (std::uint64_t number = 0; number < count; ++number) {
    try {
      const Case one = source->make(number);
      ++made;
      labels.insert(label_of(one.transformation).substr(0, one.transformation.find('=')));
      EXPECT_EQ(one.refused, "");
      if (number < 20) {
        EXPECT_EQ(text_of(source->make(number)), text_of(one));
      }
    } catch (const Error&) {  // no case
    }
  }
  EXPECT_GE(made, static_cast<int>(count) * 8 / 10);
  for (const Transformation& one : all_transformations())
    EXPECT_TRUE(labels.contains(std::string(one.name))) << one.name;
}

TEST(MetaSource, ForeignTargetsGetNoOptionsOfOurs) {
  const std::unique_ptr<Source> source = source_of("meta", "Add", "onnxruntime");
  for (std::uint64_t number = 0; number < 60; ++number) {
    try {
      EXPECT_EQ(transformed(source->make(number)).options, "");
    } catch (const Error&) {  // no case
    }
  }
}

}  // namespace
}  // namespace touchstone::fuzz
