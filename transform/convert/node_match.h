// Node under conversion, and the facts about it that only conversions (spec/conversions) query.
// Slot 0 is the node; the inputs and outputs of its signature follow.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "transform/convert/scope.h"
#include "transform/match.h"

namespace touchstone::transform {

class NodeMatch : public Match {
 public:
  NodeMatch(const Node& node, const Scope& scope);

  const Node& node() const { return node_; }
  const Node& node(Slot) const override { return node_; }
  const Tensor* constant(Slot slot) const override { return scope_.constant(name(slot)); }
  const Scope& scope() const { return scope_; }
  // Names at a slot: one, or "" if it is omitted; for a variadic parameter, all that are given.
  const std::vector<std::string>& names(Slot slot) const {
    return names_[static_cast<std::size_t>(slot.at)];
  }

  bool given(Slot slot) const { return !names(slot).empty() && !names(slot)[0].empty(); }
  bool used(Slot output) const { return given(output) && scope_.is_used(names(output)[0]); }
  Index many(Slot variadic) const { return static_cast<Index>(names(variadic).size()); }

  Type type(Slot slot) const override { return type_of(name(slot)); }
  Index rank(Slot slot) const override { return rank_of(name(slot)); }
  Index size(Slot slot, Index axis) const override;
  bool same_shape(Slot a, Slot b) const;  // for every possible feed
  bool same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const;
  bool alike(Slot variadic) const;        // all have the same shape, for every possible feed
  bool spreads_to(Slot a, Slot b) const;  // b's shape is the broadcast of both shapes
  double lowest(Slot slot) const { return -highest(slot); }
  double highest(Slot slot) const;  // largest finite number of the slot's float type

  IndexVector ints(Slot constant) const;               // also accepts floats with whole values
  bool holds_only(Slot constant, double value) const;  // every element equals the value
  std::vector<double> reals_of(Slot constant) const;

  static double least(const std::vector<double>& list);
  static double largest(const std::vector<double>& list);
  static double infinity() { return std::numeric_limits<double>::infinity(); }
  static Index whole(double value);
  static bool no_zero_or_nan(const std::vector<float>& list);
  static std::vector<double> real_list(double a, double b, double c, double d) {
    return {a, b, c, d};
  }
  static std::string type_word(Index code);  // "FLOAT", the spelling in versions before 6

  // Attributes of the node.
  std::vector<float> reals(Slot node, std::string_view attribute) const;
  std::vector<std::string> texts(Slot node, std::string_view attribute) const;

  // Returns nullopt if the type is not known or differs between calls.
  std::optional<ValueType> value_type(const std::string& name) const;

 private:
  const std::string& name(Slot slot) const;
  Type type_of(const std::string& name) const;
  Index rank_of(const std::string& name) const;
  bool same_shape(const std::string& a, const std::string& b) const;
  InferredSize size_of(const std::string& name, Index axis) const;

  const Node& node_;
  const Scope& scope_;
  std::vector<std::vector<std::string>> names_;
};

}  // namespace touchstone::transform
