// Property tests of shape inference over grown graphs with symbolic sizes, each fed at several.
//
// TOUCHSTONE_GRAPHS sets the number of graphs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fuzz/graph/graph_source.h"
#include "fuzz/graph/judge_graph.h"
#include "fuzz/shapes_testing.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

std::uint64_t graphs() {
  const char* const set = std::getenv("TOUCHSTONE_GRAPHS");
  return set ? std::strtoull(set, nullptr, 10) : 100;
}

// Returns all values of the main graph in a run on the reference.
std::map<std::string, Value> values_of(const Model& model, const Feeds& feeds) {
  std::map<std::string, Value> values(feeds.begin(), feeds.end());
  RunOptions options;
  options.tap = [&](const touchstone::Call& call, const std::string& path) {
    if (!path.empty()) return;
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.wanted[k]) values[call.node->outputs[k]] = call.outputs[k];
    }
  };
  run(model, feeds, options);
  return values;
}

TEST(ShapesOfGraphs, InferredAreTheRuns) {
  SizeTally all;
  Index runs = 0, proved = 0, values_seen = 0;
  const GraphSource source;
  for (std::uint64_t number = 0; runs < 3 * static_cast<Index>(graphs()); ++number) {
    Case made;
    try {
      made = source.make(number);
    } catch (const Error&) {
      continue;
    }
    if (made.feeds.size() < 3) continue;
    SCOPED_TRACE(made.text);
    Model model = made.model;
    resolve(model);
    const InferredShapes inferred = infer_shapes(model, {});
    EXPECT_TRUE(inferred.breaches.empty()) << inferred.breaches.front().message;
    ShapeProver prover(model, {});
    for (const Feeds& feeds : made.feeds) {
      const std::map<std::string, Value> values = values_of(model, feeds);
      prover.prove(shapes_of(feeds));
      proved += compare_proofs(prover, values).proved;
      values_seen += static_cast<Index>(values.size());
      const SizeTally one = compare_sizes(inferred, symbols_of(model, feeds), values);
      EXPECT_EQ(one.wrong, "");
      all += one;
      ++runs;
    }
  }
  EXPECT_GE(100 * proved, 85 * values_seen) << proved << " of " << values_seen;
  EXPECT_GE(10 * all.known, 7 * (all.known + all.assumed + all.open))
      << all.known << " " << all.assumed << " " << all.open;
}

}  // namespace
}  // namespace touchstone::fuzz
