// Node under conversion and the facts about it that conditions and replacements of spec/conversions
// query. A query whose answer is not known throws NotKnown; the piece then does not apply.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph.h"
#include "reference/facts.h"
#include "reference/lists.h"
#include "transform/convert/scope.h"

namespace touchstone::conversion {

// 0 is the node; the inputs and outputs of its signature follow.
struct Slot {
  int at;
};

class Match {
 public:
  Match(const Node& node, const Scope& scope);

  const Node& node() const { return node_; }
  const Scope& scope() const { return scope_; }
  // Names at a slot: one, or "" if it is omitted; for a variadic parameter, all that are given.
  const std::vector<std::string>& names(Slot slot) const {
    return names_[static_cast<std::size_t>(slot.at)];
  }

  bool given(Slot slot) const { return !names(slot).empty() && !names(slot)[0].empty(); }
  bool used(Slot output) const { return given(output) && scope_.is_used(names(output)[0]); }
  Index many(Slot variadic) const { return static_cast<Index>(names(variadic).size()); }
  bool is_constant(Slot slot) const { return scope_.constant(name(slot)) != nullptr; }

  Type type(Slot slot) const { return type_of(name(slot)); }
  Index rank(Slot slot) const { return rank_of(name(slot)); }
  Index size(Slot slot, Index axis) const;
  IndexVector shape(Slot slot) const;
  IndexVector sizes_from(Slot slot, Index axis) const;  // shape(slot) without the first `axis`
  Index elements(Slot slot) const { return count(shape(slot)); }
  bool same_shape(Slot a, Slot b) const;  // for every possible feed
  bool same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const;
  bool alike(Slot variadic) const;        // all have the same shape, for every possible feed
  bool spreads_to(Slot a, Slot b) const;  // b's shape is the broadcast of both shapes
  bool is_float(Slot slot) const { return facts(type(slot)).is_float; }
  double lowest(Slot slot) const { return -highest(slot); }
  double highest(Slot slot) const;  // largest finite number of the slot's float type

  IndexVector ints(Slot constant) const;               // also accepts floats with whole values
  double real_of(Slot constant) const;                 // requires exactly one element
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

  // Attributes of the node. `otherwise` is returned if the attribute is omitted; without it, that
  // case throws NotKnown.
  bool has(Slot node, std::string_view attribute) const;
  bool lacks(Slot node, std::string_view attribute) const;  // the node's version does not define it
  Index integer(Slot node, std::string_view attribute, std::optional<Index> otherwise = {}) const;
  double number(Slot node, std::string_view attribute, std::optional<double> otherwise = {}) const;
  std::string text(Slot node, std::string_view attribute,
                   std::optional<std::string> otherwise = {}) const;
  IndexVector integers(Slot node, std::string_view attribute,
                       std::optional<IndexVector> otherwise = {}) const;
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
  const Tensor& tensor(Slot slot) const;
  const Attribute* find(std::string_view attribute) const;

  const Node& node_;
  const Scope& scope_;
  std::vector<std::vector<std::string>> names_;
};

inline double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace touchstone::conversion
