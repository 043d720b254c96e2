// Queries that conditions and replacements of spec/conversions make about a node.
#include "transform/convert/node_match.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::transform {

namespace {

void add_names(std::vector<std::vector<std::string>>& names,
               std::span<const ParameterSpec> parameters, const std::vector<std::string>& given) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    std::vector<std::string>& here = names.emplace_back();
    const std::size_t end = parameters[k].variadic ? given.size() : std::min(k + 1, given.size());
    for (std::size_t g = k; g < end; ++g) here.push_back(given[g]);
  }
}

// True for sizes that are equal in every run. A size without a name counts as unknown.
bool is_same(const InferredSize& a, const InferredSize& b) {
  const bool has_name = !a.text.empty() && a.text.find('?') == std::string::npos;
  return !a.assumed && !b.assumed && a.number == b.number && a.text == b.text &&
         (a.number || has_name);
}

}  // namespace

NodeMatch::NodeMatch(const Node& node, const Scope& scope) : node_(node), scope_(scope) {
  names_.push_back({node.outputs.empty() ? "" : node.outputs[0]});
  add_names(names_, node.signature->inputs, node.inputs);
  add_names(names_, node.signature->outputs, node.outputs);
}

const std::string& NodeMatch::name(Slot slot) const {
  static const std::string nothing;
  return names(slot).empty() ? nothing : names(slot)[0];
}

std::optional<ValueType> NodeMatch::value_type(const std::string& name) const {
  if (const Tensor* constant = scope_.constant(name)) return tensor_type(constant->type());
  std::optional<ValueType> type;
  for (const InferredValue* value : scope_.known(name)) {
    if (!value->type || (type && *type != *value->type)) return std::nullopt;
    type = value->type;
  }
  return type;
}

Type NodeMatch::type_of(const std::string& name) const {
  const std::optional<ValueType> type = value_type(name);
  if (!type || type->kind != ValueType::Kind::tensor) throw NotKnown{};
  return type->element;
}

Index NodeMatch::rank_of(const std::string& name) const {
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

InferredSize NodeMatch::size_of(const std::string& name, Index axis) const {
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

Index NodeMatch::size(Slot slot, Index axis) const {
  const InferredSize is = size_of(name(slot), wrap(axis, rank(slot)));
  if (is.assumed) throw NotKnown{};
  return or_not_known(is.number);
}

bool NodeMatch::same_size(Slot a, Index axis_of_a, Slot b, Index axis_of_b) const {
  return is_same(size_of(name(a), wrap(axis_of_a, rank(a))),
                 size_of(name(b), wrap(axis_of_b, rank(b))));
}

bool NodeMatch::same_shape(const std::string& a, const std::string& b) const {
  if (a == b) return true;
  if (rank_of(a) != rank_of(b)) return false;
  for (Index axis = 0; axis < rank_of(a); ++axis) {
    if (!is_same(size_of(a, axis), size_of(b, axis))) return false;
  }
  return true;
}

bool NodeMatch::same_shape(Slot a, Slot b) const { return same_shape(name(a), name(b)); }

bool NodeMatch::spreads_to(Slot a, Slot b) const {
  const Index more = rank(b) - rank(a);
  for (Index axis = 0; axis < rank(a); ++axis) {
    if (more < 0) return false;
    const InferredSize is = size_of(name(a), axis);
    const bool is_one = !is.assumed && is.number == Index{1};
    if (!is_one && !same_size(a, axis, b, axis + more)) return false;
  }
  return more >= 0;
}

double NodeMatch::highest(Slot slot) const {
  if (!is_float(slot)) throw NotKnown{};
  return format_of(type(slot)).largest;
}

bool NodeMatch::alike(Slot variadic) const {
  const std::vector<std::string>& all = names(variadic);
  return std::all_of(all.begin(), all.end(),
                     [&](const std::string& one) { return same_shape(one, all[0]); });
}

IndexVector NodeMatch::ints(Slot constant) const {
  if (facts(tensor(constant).type()).is_integer) return Match::ints(constant);
  IndexVector items;
  for (const double item : reals_of(constant)) items.push_back(whole(item));
  return items;
}

Index NodeMatch::whole(double value) {
  constexpr double most = 1LL << 53;
  if (!(value >= -most && value <= most) || value != std::trunc(value)) throw NotKnown{};
  return static_cast<Index>(value);
}

bool NodeMatch::no_zero_or_nan(const std::vector<float>& list) {
  return std::all_of(list.begin(), list.end(), [](float item) { return item < 0 || item > 0; });
}

double NodeMatch::least(const std::vector<double>& list) {
  if (list.empty()) throw NotKnown{};
  return *std::min_element(list.begin(), list.end());
}

double NodeMatch::largest(const std::vector<double>& list) {
  if (list.empty()) throw NotKnown{};
  return *std::max_element(list.begin(), list.end());
}

std::string NodeMatch::type_word(Index code) {
  std::string word(facts(type_called(code)).name);
  for (char& letter : word) letter = static_cast<char>(std::toupper(letter));
  return word;
}

std::vector<double> NodeMatch::reals_of(Slot constant) const {
  const Tensor& list = tensor(constant);
  if (list.type() == Type::string || facts(list.type()).is_complex) throw NotKnown{};
  std::vector<double> items;
  for (Index k = 0; k < list.size(); ++k) items.push_back(static_cast<double>(number_at(list, k)));
  return items;
}

bool NodeMatch::holds_only(Slot constant, double value) const {
  const std::vector<double> all = reals_of(constant);
  return std::all_of(all.begin(), all.end(), [&](double one) { return one == value; });
}

std::vector<float> NodeMatch::reals(Slot node, std::string_view attribute) const {
  return value_of<std::vector<float>>(find(node, attribute));
}

std::vector<std::string> NodeMatch::texts(Slot node, std::string_view attribute) const {
  return value_of<std::vector<std::string>>(find(node, attribute));
}

}  // namespace touchstone::transform
