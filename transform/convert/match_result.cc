// Queries that conditions and replacements of spec/conversions make about a node.
#include "transform/convert/match_result.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::conversion {

namespace {

void add_names(std::vector<std::vector<std::string>>& names,
               std::span<const ParameterSpec> parameters, const std::vector<std::string>& given) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    std::vector<std::string>& here = names.emplace_back();
    const std::size_t end = parameters[k].variadic ? given.size() : std::min(k + 1, given.size());
    for (std::size_t g = k; g < end; ++g) here.push_back(given[g]);
  }
}

template <class T>
const T& held(const Attribute* attribute) {
  if (attribute == nullptr) throw NotKnown{};
  if (const T* is = std::get_if<T>(&attribute->is)) return *is;
  throw NotKnown{};
}

template <class T>
T or_not_known(std::optional<T> value) {
  if (!value) throw NotKnown{};
  return *std::move(value);
}

// True for sizes that are equal in every run. A size without a name counts as unknown.
bool is_same(const InferredSize& a, const InferredSize& b) {
  const bool has_name = !a.text.empty() && a.text.find('?') == std::string::npos;
  return !a.assumed && !b.assumed && a.number == b.number && a.text == b.text &&
         (a.number || has_name);
}

}  // namespace

Match::Match(const Node& node, const Scope& scope) : node_(node), scope_(scope) {
  names_.push_back({node.outputs.empty() ? "" : node.outputs[0]});
  add_names(names_, node.signature->inputs, node.inputs);
  add_names(names_, node.signature->outputs, node.outputs);
}

const std::string& Match::name(Slot slot) const {
  static const std::string nothing;
  return names(slot).empty() ? nothing : names(slot)[0];
}

std::optional<ValueType> Match::value_type(const std::string& name) const {
  if (const Tensor* constant = scope_.constant(name)) return tensor_type(constant->type());
  std::optional<ValueType> type;
  for (const InferredValue* value : scope_.known(name)) {
    if (!value->type || (type && *type != *value->type)) return std::nullopt;
    type = value->type;
  }
  return type;
}

Type Match::type_of(const std::string& name) const {
  const std::optional<ValueType> type = value_type(name);
  if (!type || type->kind != ValueType::Kind::tensor) throw NotKnown{};
  return type->element;
}

Index Match::rank_of(const std::string& name) const {
  if (const Tensor* constant = scope_.constant(name)) return constant->shape().size();
  std::optional<Index> rank;
  for (const InferredValue* value : scope_.known(name)) {
    if (!value->shape) throw NotKnown{};
    const auto here = static_cast<Index>(value->shape->size());
    if (rank && *rank != here) throw NotKnown{};
    rank = here;
  }
  return or_not_known(rank);
}

InferredSize Match::size_of(const std::string& name, Index axis) const {
  if (const Tensor* constant = scope_.constant(name))
    return {item(constant->shape(), axis), std::to_string(item(constant->shape(), axis))};
  std::optional<InferredSize> size;
  if (axis < 0 || axis >= rank_of(name)) throw NotKnown{};
  for (const InferredValue* value : scope_.known(name)) {
    const InferredSize& here = (*value->shape)[static_cast<std::size_t>(axis)];
    if (size && (size->number != here.number || size->text != here.text)) throw NotKnown{};
    const bool assumed = here.assumed || (size && size->assumed);
    size = here;
    size->assumed = assumed;
  }
  return or_not_known(size);
}

Index Match::size(Slot slot, Index axis) const {
  const InferredSize is = size_of(name(slot), wrap(axis, rank(slot)));
  if (is.assumed) throw NotKnown{};
  return or_not_known(is.number);
}

IndexVector Match::shape(Slot slot) const { return sizes_from(slot, 0); }

IndexVector Match::sizes_from(Slot slot, Index axis) const {
  IndexVector list;
  for (; axis < rank(slot); ++axis) list.push_back(size(slot, axis));
  return list;
}

bool Match::same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const {
  return is_same(size_of(name(a), wrap(axis_of_a, rank(a))),
                 size_of(name(b), wrap(axis_of_b, rank(b))));
}

bool Match::same_shape(const std::string& a, const std::string& b) const {
  if (a == b) return true;
  if (rank_of(a) != rank_of(b)) return false;
  for (Index axis = 0; axis < rank_of(a); ++axis) {
    if (!is_same(size_of(a, axis), size_of(b, axis))) return false;
  }
  return true;
}

bool Match::same_shape(Slot a, Slot b) const { return same_shape(name(a), name(b)); }

bool Match::spreads_to(Slot a, Slot b) const {
  const Index more = rank(b) - rank(a);
  for (Index axis = 0; axis < rank(a); ++axis) {
    if (more < 0) return false;
    const InferredSize is = size_of(name(a), axis);
    const bool is_one = !is.assumed && is.number == Index{1};
    if (!is_one && !same_size(a, axis, b, axis + more)) return false;
  }
  return more >= 0;
}

double Match::highest(Slot slot) const {
  if (!is_float(slot)) throw NotKnown{};
  return format_of(type(slot)).largest;
}

bool Match::alike(Slot variadic) const {
  const std::vector<std::string>& all = names(variadic);
  return std::all_of(all.begin(), all.end(),
                     [&](const std::string& one) { return same_shape(one, all[0]); });
}

const Tensor& Match::tensor(Slot slot) const {
  const Tensor* constant = scope_.constant(name(slot));
  if (constant == nullptr) throw NotKnown{};
  return *constant;
}

IndexVector Match::ints(Slot constant) const {
  const Tensor& list = tensor(constant);
  if (facts(list.type()).is_integer) {
    IndexVector items;
    for (Index k = 0; k < list.size(); ++k) items.push_back(static_cast<Index>(number_at(list, k)));
    return items;
  }
  IndexVector items;
  for (const double item : reals_of(constant)) items.push_back(whole(item));
  return items;
}

Index Match::whole(double value) {
  constexpr double most = 1LL << 53;
  if (!(value >= -most && value <= most) || value != std::trunc(value)) throw NotKnown{};
  return static_cast<Index>(value);
}

bool Match::no_zero_or_nan(const std::vector<float>& list) {
  return std::all_of(list.begin(), list.end(), [](float item) { return item < 0 || item > 0; });
}

double Match::least(const std::vector<double>& list) {
  if (list.empty()) throw NotKnown{};
  return *std::min_element(list.begin(), list.end());
}

double Match::largest(const std::vector<double>& list) {
  if (list.empty()) throw NotKnown{};
  return *std::max_element(list.begin(), list.end());
}

std::string Match::type_word(Index code) {
  std::string word(facts(type_called(code)).name);
  for (char& letter : word) letter = static_cast<char>(std::toupper(letter));
  return word;
}

std::vector<double> Match::reals_of(Slot constant) const {
  const Tensor& list = tensor(constant);
  if (list.type() == Type::string || facts(list.type()).is_complex) throw NotKnown{};
  std::vector<double> items;
  for (Index k = 0; k < list.size(); ++k) items.push_back(static_cast<double>(number_at(list, k)));
  return items;
}

double Match::real_of(Slot constant) const {
  const std::vector<double> all = reals_of(constant);
  if (all.size() != 1) throw NotKnown{};
  return all[0];
}

bool Match::holds_only(Slot constant, double value) const {
  const std::vector<double> all = reals_of(constant);
  return std::all_of(all.begin(), all.end(), [&](double one) { return one == value; });
}

const Attribute* Match::find(std::string_view attribute) const {
  const auto found = node_.attributes.find(std::string(attribute));
  if (found == node_.attributes.end()) return nullptr;
  // A reference to the function's attribute, whose value depends on the call.
  if (!found->second.reference.empty()) throw NotKnown{};
  return &found->second;
}

bool Match::has(Slot, std::string_view attribute) const {
  return node_.attributes.contains(std::string(attribute));
}

bool Match::lacks(Slot, std::string_view attribute) const {
  const auto all = node_.signature->attributes;
  return std::none_of(all.begin(), all.end(),
                      [&](const AttributeSpec& spec) { return spec.name == attribute; });
}

Index Match::integer(Slot, std::string_view attribute, std::optional<Index> otherwise) const {
  const Attribute* given = find(attribute);
  return given ? held<Index>(given) : or_not_known(otherwise);
}

double Match::number(Slot, std::string_view attribute, std::optional<double> otherwise) const {
  const Attribute* given = find(attribute);
  return given ? held<float>(given) : or_not_known(otherwise);
}

std::string Match::text(Slot, std::string_view attribute,
                        std::optional<std::string> otherwise) const {
  const Attribute* given = find(attribute);
  return given ? held<std::string>(given) : or_not_known(std::move(otherwise));
}

IndexVector Match::integers(Slot, std::string_view attribute,
                            std::optional<IndexVector> otherwise) const {
  const Attribute* given = find(attribute);
  if (given == nullptr) return or_not_known(std::move(otherwise));
  const auto& list = held<std::vector<Index>>(given);
  return IndexVector(list.data(), list.data() + list.size());
}

std::vector<float> Match::reals(Slot, std::string_view attribute) const {
  return held<std::vector<float>>(find(attribute));
}

std::vector<std::string> Match::texts(Slot, std::string_view attribute) const {
  return held<std::vector<std::string>>(find(attribute));
}

}  // namespace touchstone::conversion
