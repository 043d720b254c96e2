// Shapes that passes may rely on, and what they relied on.
//
// Sizes that the inputs leave open are not known when passes run. What is said of them here held in
// every walk that was made: with sizes that were drawn, and with those of feeds that came. Each use
// is an assumption, which a session checks for the feeds of a plan before it runs the plan
// (docs/decisions/011). A drawn size is taken to be at least 1: of nothing, a reshape to [0, -1]
// says no size.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

using FedShapes = std::map<std::string, Shape>;  // of fed tensors, by input

struct KnownValue {
  std::optional<ValueType> type;
  std::optional<Index> rank;
  std::vector<std::optional<Shape>> drawn;  // one a walk of drawn sizes on which every rule holds
  std::vector<std::optional<Shape>> fed;    // one a walk with the sizes of a feed
  bool trusted = false;                     // enough of the drawn sizes break no rule

  // What every walk says; axis from 0.
  std::optional<Index> size(Index axis) const;
};
bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b);

struct WalkOptions {
  Limits limits;
  bool draws = true;           // sizes that the inputs leave open are drawn, too
  bool checked = false;        // assumptions are checked for each feed: few drawn sizes suffice
  std::vector<FedShapes> fed;  // sizes that came
};

// By name, of the main graph.
std::unordered_map<std::string, KnownValue> known_values(const Model& model,
                                                         const WalkOptions& options);

// A rank, a size, or two sizes that are equal.
struct ShapeAssumption {
  std::string value;
  std::optional<Index> axis;  // none: `number` is the rank
  Index number = 0;
  std::string other;  // not empty: the size of `value` is that of `other`
  Index axis_of_other = 0;

  auto operator<=>(const ShapeAssumption&) const = default;
};

// What was assumed of the values of a graph as it stood when they were asked for. The graph's large
// constants are inputs here, of the shapes `constants`.
struct Assumed {
  Model model;
  FedShapes constants;
  std::vector<ShapeAssumption> all;
};
Assumed without_large_constants(Model model);
// True if the definitions prove all of it for feeds of these shapes.
bool hold(const Assumed& assumed, const FedShapes& feeds, const Limits& limits);

}  // namespace touchstone
