// Tests of arity and attributes of single nodes.
#include "model/testing.h"

namespace touchstone::testing {
namespace {

TEST(CheckNode, NumberOfInputs) {
  EXPECT_STREQ(first_breach("model/input-count", chain({node("Relu", {"X", "X"}, {"Y"})})).what(),
               "there are 2 inputs, but Relu-14 takes 1");
  EXPECT_STREQ(first_breach("model/input-count", chain({node("Clip", {}, {"Y"})})).what(),
               "there are 0 inputs, but Clip-13 takes 1 to 3");
  EXPECT_STREQ(first_breach("model/input-count",
                            chain({node("Concat", {}, {"Y"}, {{"axis", attribute(Index{0})}})}))
                   .what(),
               "there are 0 inputs, but Concat-13 takes 1 or more");
}

TEST(CheckNode, RequiredInputsAreGiven) {
  EXPECT_STREQ(first_breach("model/input-missing", chain({node("Add", {"", "X"}, {"Y"})})).what(),
               "input 0 ('A') of Add-14 is left out");
  expect_sound(chain({node("Clip", {"X", "", "X"}, {"Y"})}));
}

TEST(CheckNode, NumberOfOutputs) {
  first_breach("model/output-count", chain({node("Relu", {"X"}, {"Y", "Z"})}));
  first_breach("model/output-count", chain({node("Relu", {"X"}, {"Y"}), node("Relu", {"X"}, {})}));
}

TEST(CheckNode, EitherTheRequiredOutputsOrAll) {
  const auto normalised = [](std::vector<std::string> outputs) {
    Model model =
        chain({node("BatchNormalization", {"X", "X", "X", "X", "X"}, std::move(outputs))});
    model.opsets[""] = 9;
    return model;
  };
  expect_sound(normalised({"Y"}));
  expect_sound(normalised({"Y", "m", "v", "", "s"}));
  EXPECT_STREQ(first_breach("model/output-count", normalised({"Y", "m", "v"})).what(),
               "there are 3 outputs, but BatchNormalization-9 takes 1 or 5");
}

TEST(CheckNode, RequiredOutputsAreNamed) {
  first_breach("model/output-missing",
               chain({node("Relu", {"X"}, {"Y"}), node("Relu", {"X"}, {""})}));
}

TEST(CheckNode, UnknownAttributes) {
  EXPECT_STREQ(first_breach("model/attribute-unknown",
                            chain({node("Relu", {"X"}, {"Y"}, {{"slope", attribute(1.0F)}})}))
                   .what(),
               "Relu-14 has no attribute 'slope'");
}

TEST(CheckNode, KindsOfAttributes) {
  EXPECT_STREQ(first_breach("model/attribute-kind",
                            chain({node("Concat", {"X"}, {"Y"}, {{"axis", attribute(1.0F)}})}))
                   .what(),
               "attribute 'axis' holds float, but Concat-13 wants int");
}

TEST(CheckNode, RequiredAttributes) {
  first_breach("model/attribute-missing", chain({node("Concat", {"X"}, {"Y"})}));
}

TEST(CheckNode, DeprecatedOperators) {
  Model old = chain({node("Upsample", {"X", "s"}, {"Y"})});
  old.graph.initializers.emplace("s", tensor({1}));
  old.opsets[""] = 10;
  first_breach("model/deprecated", old);
  old.opsets[""] = 9;
  expect_sound(old);
}

Model calling(Node call, std::shared_ptr<Function> callee) {
  call.domain = "local";
  Model made = chain({std::move(call)});
  made.opsets["local"] = 1;
  made.functions.push_back(std::move(callee));
  return made;
}

std::shared_ptr<Function> concatenation() {
  auto made =
      function("Join", {"a", "b"}, {"c"},
               {node("Concat", {"a", "b"}, {"c"}, {{"axis", reference(Index{}, "along")}})});
  made->attributes = {"along"};
  return made;
}

TEST(CheckNode, CallsOfFunctions) {
  const Attribute along = attribute(Index{0});
  expect_sound(calling(node("Join", {"X", "X"}, {"Y"}, {{"along", along}}), concatenation()));
  first_breach("model/input-count",
               calling(node("Join", {"X", "X", "X"}, {"Y"}, {{"along", along}}), concatenation()));
  first_breach("model/output-count",
               calling(node("Join", {"X"}, {"Y", "Z"}, {{"along", along}}), concatenation()));
  first_breach("model/attribute-missing",
               calling(node("Join", {"X", "X"}, {"Y"}), concatenation()));
  first_breach("model/attribute-unknown",
               calling(node("Join", {"X", "X"}, {"Y"}, {{"along", along}, {"odd", along}}),
                       concatenation()));
  auto with_default = concatenation();
  with_default->attributes.clear();
  with_default->default_attributes.emplace("along", along);
  expect_sound(calling(node("Join", {"X", "X"}, {"Y"}), with_default));
  first_breach(
      "model/attribute-kind",
      calling(node("Join", {"X", "X"}, {"Y"}, {{"along", attribute(1.0F)}}), with_default));
}

TEST(CheckNode, ReferencesStandInFunctionsAndNameTheirAttributes) {
  auto undeclared = concatenation();
  undeclared->attributes.clear();
  first_breach("model/attribute-reference", calling(node("Join", {"X", "X"}, {"Y"}), undeclared));
  first_breach("model/attribute-reference",
               chain({node("Concat", {"X"}, {"Y"}, {{"axis", reference(Index{}, "along")}})}));
}

}  // namespace
}  // namespace touchstone::testing
