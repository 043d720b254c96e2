// Match of a pattern, and the facts about it that only patterns query.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "transform/match.h"
#include "transform/optimize/mutable_graph.h"
#include "transform/optimize/pattern.h"

namespace touchstone::transform {

class PatternMatch : public Match {
 public:
  PatternMatch(const Pattern& pattern, MutableGraph& graph);

  // Filled in by the matcher.
  std::vector<std::string> values;  // by slot; "" if omitted
  std::vector<std::optional<MutableGraph::Place>>
      made;  // by slot: the matched node that computes it
  std::vector<bool> bound;
  std::optional<MutableGraph::Place> root;
  // Assumptions that the answers below rely on. The mutable_graph records them if the match leads
  // to a change.
  mutable std::vector<ShapeAssumption> assumed;

  const Pattern& pattern() const { return pattern_; }
  MutableGraph& graph() const { return graph_; }
  const std::string& value(Slot slot) const { return values[static_cast<std::size_t>(slot.at)]; }
  const Node& node(Slot slot) const override;
  const Tensor* constant(Slot slot) const override { return graph_.constant(value(slot)); }
  bool matched(Slot slot) const { return made[static_cast<std::size_t>(slot.at)].has_value(); }

  bool given(Slot slot) const { return !value(slot).empty(); }
  bool once(Slot slot) const { return graph_.uses(value(slot)) == 1; }
  bool is_output(Slot slot) const { return graph_.is_output(value(slot)); }
  Index opset() const { return graph_.opset(""); }

  Type type(Slot slot) const override;
  Index rank(Slot slot) const override;
  Index size(Slot slot, Index axis) const override;
  // Returns all sizes, with at most one unknown, which is then -1: a valid shape input of Reshape.
  IndexVector sizes_but_one(Slot slot) const;
  bool same_shape(Slot a, Slot b) const;  // for every possible feed
  bool same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const;

  bool all_are(Slot constant, double value) const;
  // True if it broadcasts to one number for each channel (dimension 1 of `rank`), or to one for
  // all.
  bool is_per_channel(Slot constant, Index channels, Index rank) const;
  // True if every product of an element of each is finite, and normal or of a factor 0.
  bool has_normal_products(Slot a, Slot b) const;
  // True if every sum of an element of each is finite.
  bool has_finite_sums(Slot a, Slot b) const;
  bool is_made_by(Slot slot, std::string_view op) const { return node(slot).op == op; }

 private:
  const KnownValue& known(Slot slot) const;
  void assume(ShapeAssumption assumption) const;

  const Pattern& pattern_;
  MutableGraph& graph_;
};

inline bool all_zero(const IndexVector& list) {
  return std::all_of(list.begin(), list.end(), [](Index k) { return k == 0; });
}

// True if the element equals this number, rounded to the tensor's type.
bool holds(const Tensor& tensor, Index element, double value);

}  // namespace touchstone::transform
