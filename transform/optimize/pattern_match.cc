// Queries that conditions and replacements of patterns make about a match.
#include "transform/optimize/pattern_match.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::transform {

bool holds(const Tensor& tensor, Index element, double value) {
  const TypeFacts& of = facts(tensor.type());
  if (of.is_complex || tensor.type() == Type::string) return false;
  const long double is = number_at(tensor, element);
  return is == decode(tensor.type(), encode(tensor.type(), value)) && (of.is_float || is == value);
}

PatternMatch::PatternMatch(const Pattern& pattern, MutableGraph& graph)
    : values(pattern.slots.size()),
      made(pattern.slots.size()),
      bound(pattern.slots.size(), false),
      pattern_(pattern),
      graph_(graph) {}

const Node& PatternMatch::node(Slot slot) const {
  if (!matched(slot)) throw NotKnown{};
  return **made[static_cast<std::size_t>(slot.at)];
}

const KnownValue& PatternMatch::known(Slot slot) const {
  const KnownValue* known = graph_.known(value(slot));
  if (known == nullptr) throw NotKnown{};
  return *known;
}

void PatternMatch::assume(ShapeAssumption assumption) const {
  if (std::find(assumed.begin(), assumed.end(), assumption) == assumed.end())
    assumed.push_back(std::move(assumption));
}

Type PatternMatch::type(Slot slot) const {
  if (const Tensor* fixed = constant(slot)) return fixed->type();
  const KnownValue& of = known(slot);
  if (!of.type || of.type->kind != ValueType::Kind::tensor) throw NotKnown{};
  return of.type->element;
}

Index PatternMatch::rank(Slot slot) const {
  if (const Tensor* fixed = constant(slot)) return fixed->shape().size();
  const Index rank = or_not_known(known(slot).rank);
  assume({value(slot), std::nullopt, rank, "", 0});
  return rank;
}

Index PatternMatch::size(Slot slot, Index axis) const {
  if (const Tensor* fixed = constant(slot))
    return item(fixed->shape(), wrap(axis, fixed->shape().size()));
  const Index at = wrap(axis, rank(slot)), size = or_not_known(known(slot).size(at));
  assume({value(slot), at, size, "", 0});
  return size;
}

IndexVector PatternMatch::sizes_but_one(Slot slot) const {
  IndexVector list;
  for (Index axis = 0; axis < rank(slot); ++axis) {
    const Index size = known(slot).size(axis).value_or(-1);
    if (size >= 0) assume({value(slot), axis, size, "", 0});
    // Next to a size of 0, -1 is ambiguous; and 0 itself means "copy the input's size".
    if (size == 0) throw NotKnown{};
    list.push_back(size);
  }
  if (std::count(list.begin(), list.end(), -1) > 1) throw NotKnown{};
  return list;
}

bool PatternMatch::same_shape(Slot a, Slot b) const {
  if (rank(a) != rank(b)) return false;
  for (Index axis = 0; axis < rank(a); ++axis) {
    if (!same_size(a, axis, b, axis)) return false;
  }
  return true;
}

bool PatternMatch::same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const {
  const Index of_a = wrap(axis_of_a, rank(a)), of_b = wrap(axis_of_b, rank(b));
  const bool same = transform::same_size(known(a), of_a, known(b), of_b);
  if (same) assume({value(a), of_a, 0, value(b), of_b});
  return same;
}

bool PatternMatch::all_are(Slot constant, double value) const {
  const Tensor& list = tensor(constant);
  for (Index k = 0; k < list.size(); ++k) {
    if (!holds(list, k, value)) return false;
  }
  return true;
}

bool PatternMatch::is_per_channel(Slot constant, Index channels, Index rank) const {
  const IndexVector of = shape(constant);
  if (of.size() > rank) return false;
  for (Index k = 0; k < of.size(); ++k) {
    const bool is_channel = k == of.size() - (rank - 1);
    if (of[k] != 1 && !(is_channel && of[k] == channels)) return false;
  }
  return true;
}

namespace {

// The least and the largest magnitude of the elements that are not 0.
struct Magnitudes {
  long double least = std::numeric_limits<long double>::infinity(), most = 0;

  // Throws NotKnown for elements that are not finite.
  explicit Magnitudes(const Tensor& list) {
    for (Index k = 0; k < list.size(); ++k) {
      const long double magnitude = std::abs(number_at(list, k));
      if (!std::isfinite(magnitude)) throw NotKnown{};
      most = std::max(most, magnitude);
      if (magnitude > 0) least = std::min(least, magnitude);
    }
  }
};

}  // namespace

bool PatternMatch::has_normal_products(Slot a, Slot b) const {
  const Magnitudes of_a(tensor(a)), of_b(tensor(b));
  const Format& format = format_of(type(a));
  return of_a.most * of_b.most <= format.largest &&
         of_a.least * of_b.least >= format.smallest_normal;
}

bool PatternMatch::has_finite_sums(Slot a, Slot b) const {
  const Magnitudes of_a(tensor(a)), of_b(tensor(b));
  return of_a.most + of_b.most <= format_of(type(a)).largest;
}

}  // namespace touchstone::transform
