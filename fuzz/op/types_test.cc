// Types of outputs over all versions: attributes and the types of inputs decide them, so they are
// proved where no size is.
#include <gtest/gtest.h>

#include "conformance/suites/line.h"
#include "fuzz/op/testing.h"
#include "model/model.h"
#include "reference/shapes/proved_shapes.h"

namespace touchstone::fuzz {
namespace {

std::map<std::string, std::string> proved_types(const Model& model,
                                                const std::map<std::string, Shape>& feeds) {
  std::map<std::string, std::string> found;
  const ProvedShapes proved = prove_shapes(model, feeds, {});
  for (const ValueInfo& output : model.graph.outputs) {
    const auto at = proved.values.find(output.name);
    const bool known = at != proved.values.end() && at->second.type;
    found[output.name] = known ? text(*at->second.type) : "unknown";
  }
  return found;
}

TEST(Types, OfOutputsAreProvedWithoutSizes) {
  int all = 0;
  for (const Signature& signature : all_signatures()) {
    for (const Draft& draft : known_of_suite().seeds.of(signature).valid) {
      auto [model, values] = suites::model_of(suites::parse_line(text(draft)));
      resolve(model);
      std::map<std::string, Shape> feeds;
      for (std::size_t k = 0; k < values.size(); ++k) {
        ValueInfo& input = model.graph.inputs[k];
        if (values[k].is_tensor()) feeds.emplace(input.name, values[k].tensor().shape());
        input.shape.reset();
      }
      const auto types = proved_types(model, feeds);
      EXPECT_EQ(proved_types(model, {}), types) << text(draft);
      ++all;
    }
  }
  EXPECT_GT(all, 10'000);
}

}  // namespace
}  // namespace touchstone::fuzz
