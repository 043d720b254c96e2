// What may be asked of a derivative: every way to ask wrongly is refused by the rule that says so.
#include <gtest/gtest.h>

#include "model/testing.h"

namespace touchstone::testing {
namespace {

// a = Relu(X) and Y = the derivative of `of` by `by`, given `inputs`.
Model slope(std::vector<std::string> by, const std::string& of, std::vector<std::string> inputs,
            std::vector<std::string> outputs = {"Y"}) {
  Node asked = node("Gradient", std::move(inputs), std::move(outputs),
                    {{"xs", attribute(std::move(by))}, {"y", attribute(of)}});
  asked.domain = "ai.onnx.preview.training";
  Model made = chain({node("Relu", {"X"}, {"a"}), node("Relu", {"a"}, {"b"}), asked});
  made.opsets["ai.onnx.preview.training"] = 1;
  return made;
}

TEST(Derive, WhatItsGraphMakesOfTheNamedValuesIsSound) {
  Model asked = slope({"X"}, "b", {"X"});
  EXPECT_NO_THROW(require_valid(asked, {}));
}

TEST(Derive, WhatIsAskedWronglyIsRefused) {
  for (const Model& asked :
       {slope({"X", "X"}, "b", {"X", "X"}), slope({"X"}, "b", {"X", "X"}),
        slope({"a"}, "Y", {"a"}), slope({"X"}, "b", {"X"}, {"Y", "Z"})}) {
    thrown("model/derivative", [&] {
      Model again = asked;
      require_valid(again, {});
    });
  }
}

}  // namespace
}  // namespace touchstone::testing
