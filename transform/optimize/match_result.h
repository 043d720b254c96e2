// Match of a pattern, and the facts about it that conditions and replacements query. A query whose
// answer is not known throws NotKnown; the match then fails.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reference/facts.h"
#include "reference/lists.h"
#include "transform/optimize/mutable_graph.h"
#include "transform/optimize/pattern.h"

namespace touchstone {

struct Slot {
  int at;
};

class Match {
 public:
  Match(const Pattern& pattern, MutableGraph& bench);

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
  MutableGraph& bench() const { return bench_; }
  const std::string& value(Slot slot) const { return values[static_cast<std::size_t>(slot.at)]; }
  const Node& node(Slot slot) const;
  bool matched(Slot slot) const { return made[static_cast<std::size_t>(slot.at)].has_value(); }

  bool given(Slot slot) const { return !value(slot).empty(); }
  bool once(Slot slot) const { return bench_.uses(value(slot)) == 1; }
  bool is_output(Slot slot) const { return bench_.is_output(value(slot)); }
  bool is_constant(Slot slot) const { return bench_.constant(value(slot)) != nullptr; }
  Index opset() const { return bench_.opset(""); }

  Type type(Slot slot) const;
  Index rank(Slot slot) const;
  Index size(Slot slot, Index axis) const;  // a known number
  IndexVector shape(Slot slot) const;       // all sizes known
  Index elements(Slot slot) const { return count(shape(slot)); }
  // Returns all sizes, with at most one unknown, which is then -1: a valid shape input of Reshape.
  IndexVector sizes_but_one(Slot slot) const;
  bool same_shape(Slot a, Slot b) const;  // for every possible feed
  bool same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const;

  IndexVector ints(Slot constant) const;
  double real_of(Slot constant) const;  // requires exactly one element
  bool all_are(Slot constant, double value) const;
  // True if it broadcasts to one number for each channel (dimension 1 of `rank`), or to one for
  // all.
  bool is_per_channel(Slot constant, Index channels, Index rank) const;
  // True if every product of an element of each is finite, and normal or of a factor 0.
  bool has_normal_products(Slot a, Slot b) const;
  // True if every sum of an element of each is finite.
  bool has_finite_sums(Slot a, Slot b) const;
  bool is_made_by(Slot slot, std::string_view op) const { return node(slot).op == op; }
  bool is_float(Slot slot) const { return facts(type(slot)).is_float; }

  // Attributes of a matched node, named by its output. `otherwise` is returned if the attribute is
  // omitted; without it, that case throws NotKnown.
  bool lacks(Slot made_by, std::string_view attribute) const;
  bool has(Slot made_by, std::string_view attribute) const;
  Index integer(Slot made_by, std::string_view attribute,
                std::optional<Index> otherwise = {}) const;
  double number(Slot made_by, std::string_view attribute,
                std::optional<double> otherwise = {}) const;
  std::string text(Slot made_by, std::string_view attribute,
                   std::optional<std::string> otherwise = {}) const;
  IndexVector integers(Slot made_by, std::string_view attribute,
                       std::optional<IndexVector> otherwise = {}) const;

 private:
  const KnownValue& known(Slot slot) const;
  void assume(ShapeAssumption assumption) const;
  const Attribute* find(Slot made_by, std::string_view attribute) const;
  const Tensor& tensor(Slot slot) const;

  const Pattern& pattern_;
  MutableGraph& bench_;
};

inline bool all_zero(const IndexVector& list) {
  return std::all_of(list.begin(), list.end(), [](Index k) { return k == 0; });
}
inline double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

// True if the element equals this number, rounded to the tensor's type.
bool holds(const Tensor& tensor, Index element, double value);

}  // namespace touchstone
