// Base of matches: the part of a graph that a rewrite rule replaces, and the facts that conditions
// and replacements query. A query whose answer is not known throws NotKnown; the rule then does not
// apply.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/graph.h"
#include "reference/facts.h"
#include "reference/lists.h"

namespace touchstone::transform {

// Index of a value of the rule: of a pattern's values, or of a node's inputs and outputs.
struct Slot {
  int at;
};

class Match {
 public:
  virtual ~Match() = default;

  // Returns the matched node that computes the value.
  virtual const Node& node(Slot made_by) const = 0;
  virtual const Tensor* constant(Slot slot) const = 0;  // null: it may differ from run to run
  virtual Type type(Slot slot) const = 0;
  virtual Index rank(Slot slot) const = 0;
  virtual Index size(Slot slot, Index axis) const = 0;  // a known number

  bool is_constant(Slot slot) const { return constant(slot) != nullptr; }
  bool is_float(Slot slot) const { return facts(type(slot)).is_float; }
  IndexVector shape(Slot slot) const { return sizes_from(slot, 0); }  // all sizes known
  IndexVector sizes_from(Slot slot, Index axis) const;  // shape(slot) without the first `axis`
  Index elements(Slot slot) const { return count(shape(slot)); }

  IndexVector ints(Slot constant) const;
  double real_of(Slot constant) const;  // requires exactly one element

  // Attributes of a matched node, named by its output. `otherwise` is returned if the attribute is
  // omitted; without it, that case throws NotKnown.
  bool has(Slot made_by, std::string_view attribute) const;
  bool lacks(Slot made_by, std::string_view attribute) const;  // the version does not define it
  Index integer(Slot made_by, std::string_view attribute,
                std::optional<Index> otherwise = {}) const;
  double number(Slot made_by, std::string_view attribute,
                std::optional<double> otherwise = {}) const;
  std::string text(Slot made_by, std::string_view attribute,
                   std::optional<std::string> otherwise = {}) const;
  IndexVector integers(Slot made_by, std::string_view attribute,
                       std::optional<IndexVector> otherwise = {}) const;

 protected:
  const Tensor& tensor(Slot constant) const;
  // Returns null if it is omitted. Throws NotKnown for a reference to an attribute of the function,
  // whose value depends on the call.
  const Attribute* find(Slot made_by, std::string_view attribute) const;
};

template <class T>
T or_not_known(std::optional<T> value) {
  if (!value) throw NotKnown{};
  return *std::move(value);
}

// Returns the attribute's value; throws NotKnown if it has none of this type.
template <class T>
const T& value_of(const Attribute* attribute) {
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(&attribute->is);
  if (value == nullptr) throw NotKnown{};
  return *value;
}

inline double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace touchstone::transform
