// What is known of values before a run, told by walks over the model with numbers in the place of
// its symbols (reference/shape_walk.h). A pass may rely on what all of them agree on, so they are
// chosen to disagree: sizes of 1, 2 and a few, of tens to thousands, multiples of 64, all equal and
// all different, and some 1 beside others that are large. Walks on which a rule breaks are none.
// A size that the file leaves open is taken to be at least 1: of nothing, a reshape to [0, -1] says
// no size.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

struct KnownValue {
  std::optional<ValueType> type;
  std::optional<Index> rank;
  std::vector<std::optional<Shape>> shapes;  // one a walk; of that rank

  // What every walk says that says something, if most do; axis from 0.
  std::optional<Index> size(Index axis) const;
};
bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b);

// By name, of the main graph.
std::unordered_map<std::string, KnownValue> known_values(const Model& model, const Limits& limits);

}  // namespace touchstone
