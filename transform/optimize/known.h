// Shape facts that passes may rely on, and the record of those that they used.
//
// Sizes that the inputs leave open are unknown when passes run. A fact here held for every sample:
// sampled sizes, and the sizes of actual feeds. Each use is an assumption, which a session verifies
// for the feeds of a plan before it runs the plan (docs/decisions/011). A sampled size is at least
// 1, because for an empty tensor a reshape to [0, -1] is ambiguous.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "reference/shapes/proved_shapes.h"

namespace touchstone::transform {

using FedShapes = std::map<std::string, Shape>;  // of fed tensors, by input name

struct KnownValue {
  std::optional<ValueType> type;
  std::optional<Index> rank;
  std::vector<std::optional<Shape>> drawn;  // one per sample of drawn sizes that violates no rule
  std::vector<std::optional<Shape>> fed;    // one per sample with the sizes of a feed
  // The condition of a node with two graphs, as it is in all samples.
  std::optional<bool> condition = std::nullopt;
  bool trusted = false;  // enough of the drawn sizes violate no rule

  // Returns the size on which all samples agree, if any; `axis` counts from 0.
  std::optional<Index> size(Index axis) const;
};
bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b);

struct WalkOptions {
  Limits limits;
  bool draws = true;  // also samples sizes that the inputs leave open
  // assumptions are verified for each feed, so few valid samples suffice
  bool checked = false;
  std::vector<FedShapes> fed;  // shapes of actual feeds
};

// Returns the facts by value name, for the main graph.
std::unordered_map<std::string, KnownValue> known_values(const Model& model,
                                                         const WalkOptions& options);

// Assumption about a rank, about a size, that two sizes are equal, or about a condition.
struct ShapeAssumption {
  std::string value;
  std::optional<Index> axis;  // nullopt: `number` is the rank
  Index number = 0;
  std::string other;  // not empty: the size of `value` equals that of `other`
  Index axis_of_other = 0;
  bool is_condition = false;  // `number` is 1 if the condition holds, else 0

  auto operator<=>(const ShapeAssumption&) const = default;
};

// Assumptions about the values of a graph, with a copy of the graph as it was when they were made.
// The graph's large constants are inputs in the copy, of the shapes `constants`.
struct Assumed {
  Model model;
  FedShapes constants;
  std::vector<ShapeAssumption> all;
};
Assumed without_large_constants(Model model);
// True if shape inference from the definitions proves all assumptions for feeds of these shapes.
// `prover`: of the assumptions' model.
bool hold(const Assumed& assumed, ShapeProver& prover, const FedShapes& feeds);

}  // namespace touchstone::transform
