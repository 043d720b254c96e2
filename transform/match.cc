// Queries that all rewrite rules make about their match.
#include "transform/match.h"

#include <algorithm>

#include "core/numbers/convert.h"

namespace touchstone::transform {

const Tensor& Match::tensor(Slot constant) const {
  const Tensor* found = this->constant(constant);
  if (found == nullptr) throw NotKnown{};
  return *found;
}

IndexVector Match::sizes_from(Slot slot, Index axis) const {
  IndexVector list;
  for (const Index end = rank(slot); axis < end; ++axis) list.push_back(size(slot, axis));
  return list;
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

const Attribute* Match::find(Slot made_by, std::string_view attribute) const {
  const auto& all = node(made_by).attributes;
  const auto found = all.find(std::string(attribute));
  if (found == all.end()) return nullptr;
  if (!found->second.reference.empty()) throw NotKnown{};
  return &found->second;
}

bool Match::has(Slot made_by, std::string_view attribute) const {
  return node(made_by).attributes.contains(std::string(attribute));
}

bool Match::lacks(Slot made_by, std::string_view attribute) const {
  const auto all = node(made_by).signature->attributes;
  return std::none_of(all.begin(), all.end(),
                      [&](const AttributeSpec& spec) { return spec.name == attribute; });
}

Index Match::integer(Slot made_by, std::string_view attribute,
                     std::optional<Index> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? value_of<Index>(given) : or_not_known(otherwise);
}

double Match::number(Slot made_by, std::string_view attribute,
                     std::optional<double> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? value_of<float>(given) : or_not_known(otherwise);
}

std::string Match::text(Slot made_by, std::string_view attribute,
                        std::optional<std::string> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  return given ? value_of<std::string>(given) : or_not_known(std::move(otherwise));
}

IndexVector Match::integers(Slot made_by, std::string_view attribute,
                            std::optional<IndexVector> otherwise) const {
  const Attribute* given = find(made_by, attribute);
  if (given == nullptr) return or_not_known(std::move(otherwise));
  const auto& list = value_of<std::vector<Index>>(given);
  return IndexVector(list.data(), list.data() + list.size());
}

}  // namespace touchstone::transform
