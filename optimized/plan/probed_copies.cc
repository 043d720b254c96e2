// Plans data movement by running the reference kernel once, on tensors whose elements are their own
// numbers. The output then shows the source of each element, so no operator's rules are repeated
// here.
#include <algorithm>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "optimized/plan/copies.h"
#include "optimized/plan/groups.h"
#include "optimized/problems/collapse.h"
#include "optimized/registry/registry.h"
#include "reference/interpreter.h"
#include "reference/lists.h"

namespace touchstone::optimized {

ElementNames::ElementNames(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value || !is_copied(fact, k)) continue;
    first.push_back(next);
    next += count(*graph.value(fact.inputs[k]).shape);
  }
}

std::pair<Index, Index> ElementNames::of(Index name) const {
  if (name == 0) return {zero_fill, 0};
  const auto behind = std::upper_bound(first.begin(), first.end(), name);
  const Index source = behind - first.begin() - 1;
  return {source, name - first[static_cast<std::size_t>(source)]};
}

std::optional<StridedCopy> copy_of_strides(const Shape& extents, const IndexVector& source_strides,
                                           const IndexVector& target_strides) {
  const Collapsed walk = collapse(extents, {source_strides, target_strides});
  if (walk.extents.size() > static_cast<Index>(StridedCopy::rank)) return std::nullopt;
  StridedCopy move;
  for (Index d = 0; d < walk.extents.size(); ++d) {
    const auto k = static_cast<std::size_t>(walk.extents.size() - 1 - d);
    move.extents[k] = walk.extents[d];
    move.source_strides[k] = walk.strides[0][d];
    move.target_strides[k] = walk.strides[1][d];
  }
  return move;
}

bool is_copied(const AnalyzedNode& fact, std::size_t k) {
  const auto parameters = fact.node->signature->inputs;
  return parameters[std::min(k, parameters.size() - 1)].type == parameters[0].type;
}

namespace {

// Type of the names. A wider type than that of a constant which controls the node would widen the
// arithmetic of positions. Another rounding then picks another element. So the names have the
// element's type if it is the widest, else they are integers.
Type type_of_names(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  Type own = Type::undefined;
  int bits = 0;  // of the widest float that controls
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value) continue;
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    if (is_copied(fact, k))
      own = value.type->element;
    else if (value.constant->type() != Type::string && facts(value.constant->type()).is_float)
      bits = std::max(bits, facts(value.constant->type()).bits);
  }
  if (bits == 0 || own == Type::float64) return Type::float64;
  return own == Type::float32 && bits < facts(own).bits ? own : Type::int64;
}

template <class T>
void name_elements(Tensor& names, Index& next, Index whole) {
  for (Index e = 0; e < names.size(); ++e, ++next)
    names.data<T>()[e] = static_cast<T>(whole == 0 ? next : whole - next);
}

// True if a constant is the shape of the node's output.
bool names_shape_of(const AnalyzedGraph& graph, const AnalyzedNode& fact, const Tensor& constant) {
  const Shape& made = *graph.value(fact.outputs[0]).shape;
  return constant.type() == Type::int64 && constant.shape() == Shape{made.size()} &&
         std::equal(made.begin(), made.end(), constant.data<std::int64_t>());
}
Tensor shape_tensor(const Shape& shape) {
  Tensor made(Type::int64, {shape.size()});
  std::copy(shape.begin(), shape.end(), made.data<std::int64_t>());
  return made;
}

}  // namespace

std::vector<Value> run_on_names(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index whole,
                                const Shape* shape, const Shape* made_shape) {
  constexpr Index largest_in_float32 = Index{1} << 24;
  const Type type = type_of_names(graph, fact);
  std::vector<Value> inputs;
  Index next = 1;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value) {
      inputs.emplace_back();
      continue;
    }
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    if (!is_copied(fact, k)) {
      const bool replaced = made_shape != nullptr && names_shape_of(graph, fact, *value.constant);
      inputs.emplace_back(replaced ? shape_tensor(*made_shape) : *value.constant);
      continue;
    }
    Tensor names(type, k == 0 && shape ? *shape : *value.shape);
    if (type == Type::float32 && std::max(whole, next + names.size()) > largest_in_float32)
      throw Error(ErrorKind::unsupported, "float32 cannot number so many elements");
    if (type == Type::float64)
      name_elements<double>(names, next, whole);
    else if (type == Type::float32)
      name_elements<float>(names, next, whole);
    else
      name_elements<std::int64_t>(names, next, whole);
    inputs.emplace_back(std::move(names));
  }
  std::vector<Value> made = evaluate(*fact.node->signature, fact.node->attributes,
                                     std::move(inputs), static_cast<Index>(fact.outputs.size()));
  for (Value& value : made) {
    if (type == Type::float64 || !value.is_tensor()) continue;
    Tensor names(Type::float64, value.tensor().shape());
    convert(value.tensor(), names);
    value = names;
  }
  return made;
}

namespace {

constexpr Index max_elements = Index{1} << 24;  // limit on the elements of a planned movement

// Describes the whole output as one strided copy from a single input, if possible.
bool by_probed_strides(CopiedOutput& output, const std::int64_t* names, const ElementNames& known) {
  const auto [source, from] = known.of(names[0]);
  if (source == zero_fill) return false;
  const IndexVector dense = dense_strides(output.shape);
  IndexVector steps(output.shape.size(), 0);
  for (Index d = 0; d < output.shape.size(); ++d) {
    if (output.shape[d] > 1) steps[d] = names[dense[d]] - names[0];
  }
  IndexVector at(output.shape.size(), 0);
  Index expected = names[0];
  for (Index k = 0, count = touchstone::count(output.shape); k < count; ++k) {
    if (names[k] != expected || known.of(expected).first != source) return false;
    for (Index d = output.shape.size() - 1; d >= 0; --d) {
      expected += steps[d];
      if (++at[d] < output.shape[d]) break;
      expected -= steps[d] * at[d];
      at[d] = 0;
    }
  }
  Shape extents;
  IndexVector to, by;
  for (Index d = 0; d < output.shape.size(); ++d) {
    if (output.shape[d] == 1) continue;
    extents.push_back(output.shape[d]);
    to.push_back(dense[d]);
    by.push_back(steps[d]);
  }
  const std::optional<StridedCopy> move = copy_of_strides(extents, by, to);
  if (!move) return false;
  output.parts = {{*move, source, from, 0}};
  return true;
}

void by_runs(CopiedOutput& output, const std::int64_t* names, const ElementNames& known) {
  for (Index k = 0, count = touchstone::count(output.shape); k < count; ++k) {
    const auto [source, from] = known.of(names[k]);
    CopiedRun* last = output.runs.empty() ? nullptr : &output.runs.back();
    if (last && last->source == source &&
        (source == zero_fill || last->from + last->count == from)) {
      ++last->count;
    } else {
      output.runs.push_back({source, from, k, 1});
    }
  }
}

bool by_elements(CopiedOutput& output, const std::int64_t* names, const ElementNames& known) {
  for (Index k = 0, count = touchstone::count(output.shape); k < count; ++k) {
    const auto [source, from] = known.of(names[k]);
    if (source != zero_fill && output.source == zero_fill) output.source = source;
    if (source != zero_fill && source != output.source) return false;
    output.elements.push_back(source == zero_fill ? -1 : static_cast<std::int32_t>(from));
  }
  return output.source != zero_fill;
}

}  // namespace

void describe(CopiedOutput& output, const std::int64_t* names, const ElementNames& known) {
  // Average length below which copying runs is slower than copying elements.
  constexpr Index shortest = 8;
  if (by_probed_strides(output, names, known)) return;
  by_runs(output, names, known);
  if (static_cast<Index>(output.runs.size()) * shortest <= count(output.shape)) return;
  if (by_elements(output, names, known)) {
    output.runs.clear();
  } else {
    output.elements.clear();
  }
}

namespace {

// True if both runs name the same elements. A node that computes with its operands (a scatter that
// adds) gives different elements when they are named in reverse order.
bool same_elements(const Tensor& names, const Tensor& others, Index whole) {
  const auto all = static_cast<double>(whole);
  for (Index k = 0; k < names.size(); ++k) {
    const double name = names.data<double>()[k], other = others.data<double>()[k];
    if (!(name >= 0 && name < all / 2) || (name == 0 ? other != 0 : all - other != name))
      return false;
  }
  return names.shape() == others.shape();
}

// Returns the element names of each output; none if the node does more than move them, or throws.
std::vector<Tensor> moved(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index next) {
  const Index whole = 4 * next;
  std::vector<Tensor> all;
  try {
    const std::vector<Value> made = run_on_names(graph, fact, 0),
                             again = run_on_names(graph, fact, whole);
    for (std::size_t k = 0; k < fact.outputs.size(); ++k) {
      const Tensor& names = made[k].tensor();
      if (names.shape() != *graph.value(fact.outputs[k]).shape ||
          !same_elements(names, again[k].tensor(), whole))
        return {};
      Tensor& numbers = all.emplace_back(Type::int64, names.shape());
      std::copy_n(names.data<double>(), names.size(), numbers.data<std::int64_t>());
    }
  } catch (const Error&) {
    return {};
  }
  return all;
}

}  // namespace

std::vector<CopiedOutput> probed_copy(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const ElementNames known(graph, fact);
  std::vector<CopiedOutput> outputs;
  for (const Tensor& names : moved(graph, fact, known.next)) {
    outputs.emplace_back().shape = names.shape();
    describe(outputs.back(), names.data<std::int64_t>(), known);
  }
  return outputs;
}

// True if all outputs have the first input's element type and the definition is in notation.
// Handwritten kernels may depend on element values, and so may outputs of another type (a row of
// numbers for each index). ElementNames would not reveal that if the named values are outside of
// the range that matters.
static bool keeps_elements(const Signature& signature) {
  return signature.kind == "semantics" && !signature.inputs.empty() &&
         std::all_of(
             signature.outputs.begin(), signature.outputs.end(),
             [&](const ParameterSpec& made) { return made.type == signature.inputs[0].type; });
}

// True if a resampling moves elements. Without the attribute, its definition's default counts.
static bool is_nearest(const AnalyzedNode& fact) {
  if (fact.attributes().given("mode")) return fact.attributes().text("mode") == "nearest";
  const auto attributes = fact.node->signature->attributes;
  return std::any_of(attributes.begin(), attributes.end(), [](const AttributeSpec& spec) {
    return spec.name == "mode" && spec.default_json == "\"nearest\"";
  });
}

// True if the movement follows from runs on few elements, whatever the sizes.
static bool is_inferred(const AnalyzedGraph& graph, Index node) {
  switch (operator_kind(*graph.node(node).node->signature)) {
    case OperatorKind::concat:
    case OperatorKind::transpose:
    case OperatorKind::per_dimension:
      return true;
    default:
      return repeats(graph, node).has_value();
  }
}

// Elements that a movement reads and writes, if `fits` takes them all. Other inputs must be
// constant, so that every destination is known. Returns nullopt for other nodes.
static std::optional<Index> moved_elements(const AnalyzedGraph& graph, Index node,
                                           bool (*fits)(const AnalyzedValue&)) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature* signature = fact.node->signature;
  if (signature == nullptr) return std::nullopt;
  bool moves = signature->form == "move";
  if (signature->form == "resample") moves = is_nearest(fact);
  if (!moves || fact.inputs.empty() || !keeps_elements(*signature)) return std::nullopt;
  Index elements = 0;
  bool any = false;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value) continue;
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    const bool moved = is_copied(fact, k);
    if (moved ? !fits(value) : value.constant == nullptr) return std::nullopt;
    if (moved) elements += count(*value.shape);
    any = any || (moved && value.constant == nullptr);
  }
  for (const Index output : fact.outputs) {
    if (output == no_value || !fits(graph.value(output))) return std::nullopt;
    elements += count(*graph.value(output).shape);
  }
  if (!any || elements > max_elements) return std::nullopt;
  return elements;
}

static bool is_planned(const AnalyzedGraph& graph, Index node, std::optional<Index> elements) {
  return elements && (*elements <= max_probed || is_inferred(graph, node));
}

static std::optional<Index> moved_floats(const AnalyzedGraph& graph, Index node) {
  const auto floats = [](const AnalyzedValue& value) { return value.floats(); };
  const std::optional<Index> elements = moved_elements(graph, node, floats);
  if (!elements) return std::nullopt;
  const std::vector<Index>& outputs = graph.node(node).outputs;
  const bool writes = std::all_of(outputs.begin(), outputs.end(), [&](Index output) {
    return count(*graph.value(output).shape) > 0;
  });
  return writes ? elements : std::nullopt;
}

bool moves_floats(const AnalyzedGraph& graph, Index node) {
  return moved_floats(graph, node).has_value();
}

bool is_data_movement(const AnalyzedGraph& graph, Index node) {
  return is_planned(graph, node, moved_floats(graph, node));
}

bool is_movement_of_any_type(const AnalyzedGraph& graph, Index node) {
  const auto fits = [](const AnalyzedValue& value) {
    return value.shape && value.type && value.type->kind == ValueType::Kind::tensor &&
           value.type->element != Type::string && value.type->element != Type::undefined;
  };
  return is_planned(graph, node, moved_elements(graph, node, fits));
}

}  // namespace touchstone::optimized
