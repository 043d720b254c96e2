// Property tests of shape inference over grown graphs with symbolic sizes, each fed at several.
//
// TOUCHSTONE_GRAPHS sets the number of graphs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "fuzz/graph/graph_source.h"
#include "fuzz/graph/judge_graph.h"
#include "fuzz/shapes_testing.h"
#include "model/model.h"
#include "reference/interpreter.h"
#include "reference/shapes/symbols.h"

namespace touchstone::fuzz {
namespace {

std::uint64_t graphs() {
  const char* const set = std::getenv("TOUCHSTONE_GRAPHS");
  return set ? std::strtoull(set, nullptr, 10) : 100;
}

// Visits grown graphs that are fed three times and more.
template <class Visit>
void each_graph(Visit&& visit) {
  const GraphSource source;
  std::uint64_t count = 0;
  for (std::uint64_t number = 0; count < graphs(); ++number) {
    Case made;
    try {
      made = source.make(number);
    } catch (const Error&) {
      continue;
    }
    if (made.feeds.size() < 3) continue;
    ++count;
    SCOPED_TRACE(made.text);
    Model model = made.model;
    resolve(model);
    visit(made, model);
  }
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
  each_graph([&](const Case& made, const Model& model) {
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
  });
  EXPECT_GE(100 * proved, 85 * values_seen) << proved << " of " << values_seen;
  EXPECT_GE(10 * all.known, 7 * (all.known + all.assumed + all.open))
      << all.known << " " << all.assumed << " " << all.open;
}

// Sizes over symbols, followed at one feed, are those of the runs at the others.
TEST(ShapesOfGraphs, OverSymbolsAreTheRuns) {
  Index known = 0, values_seen = 0, compared = 0, guards = 0, skipped = 0, count = 0;
  each_graph([&](const Case& made, Model& model) {
    ++count;
    SymbolTable symbols;
    std::map<std::string, SymbolicInteger> by_name;
    ShapeProver::InputSizes sizes;
    const std::map<std::string, Shape> hints = shapes_of(made.feeds.front());
    for (ValueInfo& input : model.graph.inputs) {
      const auto hint = hints.find(input.name);
      if (hint == hints.end()) continue;
      if (!input.shape) input.shape.emplace(static_cast<std::size_t>(hint->second.size()));
      for (std::size_t axis = 0; axis < input.shape->size(); ++axis) {
        const Index size = hint->second[static_cast<Index>(axis)];
        Dim& dim = (*input.shape)[axis];
        if (dim.size && *dim.size < 0) dim.size.reset();
        if (!dim.size && dim.symbol.empty()) dim.symbol = input.name + "." + std::to_string(axis);
        const std::string& name = dim.symbol;
        SymbolicInteger is = size;
        if (!dim.size) {
          const auto [at, is_new] = by_name.try_emplace(name, 0);
          if (is_new) at->second = symbols.symbol(name, size, 0, INT32_MAX);
          is = at->second;
        }
        sizes[input.name].push_back(is);
      }
    }
    ShapeProver prover(model, {});
    prover.follow(hints, symbols, sizes);
    guards += std::ssize(symbols.guards());
    for (const Feeds& feeds : made.feeds) {
      const std::map<std::string, Shape> shapes = shapes_of(feeds);
      const bool other_rank = std::any_of(sizes.begin(), sizes.end(), [&](const auto& input) {
        return std::ssize(input.second) != shapes.at(input.first).size();
      });
      if (other_rank) continue;
      const auto at = symbols_of(model, feeds);
      const SymbolTable::Values of(at.begin(), at.end());
      if (!symbols.hold(of)) {
        ++skipped;
        continue;
      }
      for (const auto& [name, value] : values_of(model, feeds)) {
        if (!value.is_tensor()) continue;
        ++values_seen;
        const auto said = prover.sizes(name);
        if (!said) continue;
        ++known;
        std::string text;
        Shape expected;
        for (const SymbolicInteger& size : *said) {
          expected.push_back(symbols.value(size, of).value_or(-1));
          text += symbols.text(size) + ", ";
        }
        const Shape& actual = value.tensor().shape();
        for (Index d = 0; d < expected.size() && d < actual.size(); ++d) {
          if (expected[d] == -1) expected[d] = actual[d];  // depends on data
        }
        ++compared;
        EXPECT_EQ(touchstone::text(expected), touchstone::text(actual)) << name << ": " << text;
      }
    }
  });
  std::cout << count << " graphs, " << known << " of " << values_seen << " known, " << guards
            << " guards, " << skipped << " feeds beyond them\n";
  EXPECT_GE(100 * known, 80 * values_seen) << known << " of " << values_seen;
}

}  // namespace
}  // namespace touchstone::fuzz
