// Queries that conditions and replacements of patterns make about a match.
#include "transform/optimize/match_result.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone {

namespace {

template <class T>
T or_not_known(std::optional<T> value) {
  if (!value) throw NotKnown{};
  return *std::move(value);
}

}  // namespace

bool holds(const Tensor& tensor, Index element, double value) {
  const TypeFacts& of = facts(tensor.type());
  if (of.is_complex || tensor.type() == Type::string) return false;
  const long double is = number_at(tensor, element);
  return is == decode(tensor.type(), encode(tensor.type(), value)) && (of.is_float || is == value);
}

Match::Match(const Pattern& pattern, MutableGraph& bench)
    : values(pattern.slots.size()),
      made(pattern.slots.size()),
      bound(pattern.slots.size(), false),
      pattern_(pattern),
      bench_(bench) {}

const Node& Match::node(Slot slot) const {
  if (!matched(slot)) throw NotKnown{};
  return **made[static_cast<std::size_t>(slot.at)];
}

const Tensor& Match::tensor(Slot slot) const {
  const Tensor* constant = bench_.constant(value(slot));
  if (constant == nullptr) throw NotKnown{};
  return *constant;
}

const KnownValue& Match::known(Slot slot) const {
  const KnownValue* known = bench_.known(value(slot));
  if (known == nullptr) throw NotKnown{};
  return *known;
}

void Match::assume(ShapeAssumption assumption) const {
  if (std::find(assumed.begin(), assumed.end(), assumption) == assumed.end())
    assumed.push_back(std::move(assumption));
}

Type Match::type(Slot slot) const {
  if (const Tensor* constant = bench_.constant(value(slot))) return constant->type();
  const KnownValue& of = known(slot);
  if (!of.type || of.type->kind != ValueType::Kind::tensor) throw NotKnown{};
  return of.type->element;
}

Index Match::rank(Slot slot) const {
  if (const Tensor* constant = bench_.constant(value(slot))) return constant->shape().size();
  const Index rank = or_not_known(known(slot).rank);
  assume({value(slot), std::nullopt, rank, "", 0});
  return rank;
}

Index Match::size(Slot slot, Index axis) const {
  if (const Tensor* constant = bench_.constant(value(slot)))
    return item(constant->shape(), wrap(axis, constant->shape().size()));
  const Index at = wrap(axis, rank(slot)), size = or_not_known(known(slot).size(at));
  assume({value(slot), at, size, "", 0});
  return size;
}

IndexVector Match::shape(Slot slot) const {
  IndexVector list;
  for (Index axis = 0; axis < rank(slot); ++axis) list.push_back(size(slot, axis));
  return list;
}

IndexVector Match::sizes_but_one(Slot slot) const {
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

bool Match::same_shape(Slot a, Slot b) const {
  if (rank(a) != rank(b)) return false;
  for (Index axis = 0; axis < rank(a); ++axis) {
    if (!same_size(a, axis, b, axis)) return false;
  }
  return true;
}

bool Match::same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const {
  const Index of_a = wrap(axis_of_a, rank(a)), of_b = wrap(axis_of_b, rank(b));
  const bool same = touchstone::same_size(known(a), of_a, known(b), of_b);
  if (same) assume({value(a), of_a, 0, value(b), of_b});
  return same;
}

IndexVector Match::ints(Slot constant) const {
  const Tensor& list = tensor(constant);
  if (!facts(list.type()).is_integer) throw NotKnown{};
  IndexVector items;
  for (Index k = 0; k < list.size(); ++k) items.push_back(static_cast<Index>(number_at(list, k)));
  return items;
}

double Match::real_of(Slot constant) const {
  const Tensor& one = tensor(constant);
  if (one.size() != 1 || one.type() == Type::string || facts(one.type()).is_complex)
    throw NotKnown{};
  return static_cast<double>(number_at(one, 0));
}

bool Match::all_are(Slot constant, double value) const {
  const Tensor& list = tensor(constant);
  for (Index k = 0; k < list.size(); ++k) {
    if (!holds(list, k, value)) return false;
  }
  return true;
}

bool Match::is_per_channel(Slot constant, Index channels, Index rank) const {
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

bool Match::has_normal_products(Slot a, Slot b) const {
  const Magnitudes of_a(tensor(a)), of_b(tensor(b));
  const Format& format = format_of(type(a));
  return of_a.most * of_b.most <= format.largest &&
         of_a.least * of_b.least >= format.smallest_normal;
}

bool Match::has_finite_sums(Slot a, Slot b) const {
  const Magnitudes of_a(tensor(a)), of_b(tensor(b));
  return of_a.most + of_b.most <= format_of(type(a)).largest;
}

bool Match::lacks(Slot made_by, std::string_view attribute) const {
  const auto all = node(made_by).signature->attributes;
  return std::none_of(all.begin(), all.end(),
                      [&](const AttributeSpec& spec) { return spec.name == attribute; });
}

const Attribute* Match::find(Slot made_by, std::string_view attribute) const {
  const auto& all = node(made_by).attributes;
  const auto found = all.find(std::string(attribute));
  return found == all.end() ? nullptr : &found->second;
}

bool Match::has(Slot made_by, std::string_view attribute) const {
  return find(made_by, attribute) != nullptr;
}

namespace {

template <class T>
const T& held(const Attribute& attribute) {
  if (const T* is = std::get_if<T>(&attribute.is)) return *is;
  throw NotKnown{};
}

}  // namespace

Index Match::integer(Slot made_by, std::string_view attribute,
                     std::optional<Index> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? held<Index>(*given) : or_not_known(otherwise);
}

double Match::number(Slot made_by, std::string_view attribute,
                     std::optional<double> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? held<float>(*given) : or_not_known(otherwise);
}

std::string Match::text(Slot made_by, std::string_view attribute,
                        std::optional<std::string> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? held<std::string>(*given) : or_not_known(std::move(otherwise));
}

IndexVector Match::integers(Slot made_by, std::string_view attribute,
                            std::optional<IndexVector> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  if (given == nullptr) return or_not_known(std::move(otherwise));
  const auto& list = held<std::vector<Index>>(*given);
  return IndexVector(list.data(), list.data() + list.size());
}

}  // namespace touchstone
