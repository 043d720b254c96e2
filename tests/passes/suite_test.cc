// Optimizes every single-node case of the standard's own suite, with its inputs made constant where
// possible. The optimized model is valid and gives the same bits on the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "conformance/suites/suite.h"
#include "core/error.h"
#include "model/bits.h"
#include "model/model.h"
#include "reference/interpreter.h"
#include "transform/optimize/graph_passes.h"
#include "transform/optimize/passes.h"

namespace touchstone {
namespace {

struct Loaded {
  Model model;
  std::map<std::string, Value> feeds;
};

// A case with its feeds; nullopt if another component refuses it because it is invalid or has no
// kernel.
std::optional<Loaded> load(const suites::Case& listed) {
  try {
    Loaded made{load_valid(listed.model, Limits::trusted()), {}};
    const std::vector<ValueInfo>& inputs = made.model.graph.inputs;
    const std::vector<std::filesystem::path>& files = listed.data[0].inputs;
    if (files.size() != inputs.size()) return std::nullopt;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      made.feeds[inputs[k].name] =
          load_value(files[k], inputs[k].type.value_or(ValueType{}), Limits::trusted());
    return made;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool any_draws(const Model& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                     [](const Node& node) { return transform::draws(node); });
}

// Turns tensor feeds into constants. An Identity after each output leaves all other nodes foldable.
void freeze(Loaded& one) {
  for (ValueInfo& output : one.model.graph.outputs) {
    if (!output.type || output.type->kind != ValueType::Kind::tensor) continue;
    Node last;
    last.op = "Identity";
    last.inputs = {output.name};
    output.name += "_last";
    last.outputs = {output.name};
    last.index = static_cast<Index>(one.model.graph.nodes.size());
    one.model.graph.nodes.push_back(std::move(last));
  }
  one.model.opsets.emplace("", 17);  // for models of other domains only
  resolve(one.model);
  std::erase_if(one.model.graph.inputs, [&](const ValueInfo& input) {
    const Value& fed = one.feeds[input.name];
    if (!fed.is_tensor()) return false;
    one.model.graph.initializers[input.name] = fed.tensor();
    one.feeds.erase(input.name);
    return true;
  });
  one.model.ir_version = std::max<Index>(one.model.ir_version, 4);
}

struct Tally {
  Index compared = 0, changed = 0;
};

void hold(const Loaded& one, const transform::PassOptions& options, const std::string& name,
          Tally& tally) {
  std::map<std::string, Value> expected;
  try {
    expected = run(one.model, one.feeds);
  } catch (const Error&) {
    return;
  }
  const transform::Optimized made = transform::optimize(one.model, options);
  const std::map<std::string, Value> outputs = run(made.model, one.feeds);
  ASSERT_EQ(outputs.size(), expected.size()) << name;
  for (const auto& [output, value] : expected)
    EXPECT_TRUE(same_bits(value, outputs.at(output))) << name << " " << output;
  ++tally.compared;
  tally.changed += made.counts.empty() ? 0 : 1;
}

TEST(Suite, ExactPassesKeepEveryBit) {
  transform::PassOptions options;
  for (const transform::Pass& pass : transform::all_passes()) {
    if (!pass.exact) options.without.emplace_back(pass.name);
  }
  Tally fed, frozen;
  for (const suites::Case& listed :
       suites::read_suite(suites::cached_suite("1.23.2"), "onnx").cases) {
    if (listed.kind != "node" || listed.data.empty()) continue;
    std::optional<Loaded> one = load(listed);
    if (!one || any_draws(one->model)) continue;
    hold(*one, options, listed.name, fed);
    freeze(*one);
    hold(*one, options, listed.name + ", frozen", frozen);
  }
  EXPECT_GT(fed.compared, 1000);
  EXPECT_GT(fed.changed, 20);
  EXPECT_GT(frozen.compared, 1000);
  EXPECT_GT(frozen.changed, 800);
}

}  // namespace
}  // namespace touchstone
