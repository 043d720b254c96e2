// Infers the shape of a node whose plan needs values of a small tensor known only at run time
// (Reshape, Slice, Pad, TopK). Often the rank, and the dimensions that do not depend on the values,
// can still be determined.
//
// The plan is evaluated with trial values of several kinds. Those that violate a rule are ignored.
// The common result of all others is kept, and a dimension in which they differ gets an unnamed
// symbol.
#include <algorithm>

#include "core/numbers/convert.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_elements = 8;  // per such tensor
constexpr int kinds = 20;
constexpr int min_answers = 2;

bool can_be_tried(const PartialValue& known) {
  if (known.left_out || known.value || !known.shape || !known.type ||
      known.type->kind != ValueType::Kind::tensor)
    return false;
  const Type type = known.type->element;
  if (type == Type::undefined || type == Type::string || facts(type).is_complex) return false;
  Index size = 1;
  return std::all_of(known.shape->begin(), known.shape->end(),
                     [&](Index d) { return d <= max_elements && (size *= d) <= max_elements; });
}

// Trial value of element k of input n in an attempt of a kind: first values that satisfy many
// rules, then values that make dimensions differ.
Index tried(int kind, std::size_t n, Index k) {
  const auto mixed = static_cast<Index>(
      (static_cast<std::uint64_t>(kind) * 31 + n * 7 + static_cast<std::uint64_t>(k)) *
          0x9e3779b97f4a7c15 >>
      40);
  switch (kind) {
    case 0:
      return 1;
    case 1:
      return 0;
    case 2:
      return k;
    case 3:
      return static_cast<Index>(n);
    case 4:
      return 2;
    default:
      break;
  }
  if (kind < 8) return mixed % 7 - 3;
  if (kind < 10) return 1 + mixed % 5;
  if (kind < 12) return k == kind % 2 ? 2 + mixed % 90 : 1;
  return k == kind - 12 ? -1 : 1;  // each element in turn
}

}  // namespace

std::optional<Inferred> ShapeWalk::probed(const Node& node, const ReferenceEntry& entry,
                                          const std::vector<PartialValue>& inputs,
                                          const std::string& place) {
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (can_be_tried(inputs[k])) open.push_back(k);
  }
  if (open.empty() || entry.infer == nullptr) return std::nullopt;
  std::vector<PartialValue> filled = inputs;
  std::optional<Inferred> agreed;
  int answers = 0;
  for (int kind = 0; kind < kinds; ++kind) {
    for (const std::size_t n : open) {
      Tensor values(inputs[n].type->element, *inputs[n].shape);
      for (Index k = 0; k < values.size(); ++k) {
        set_number(values, k, static_cast<long double>(tried(kind, n, k)), Saturate::yes);
      }
      filled[n].value = std::move(values);
    }
    Inferred said;
    try {
      said = inferred(node, entry, filled);
    } catch (const Error&) {
      continue;
    }
    if (said.partial) return std::nullopt;  // it needs something that cannot be tried
    ++answers;
    if (!agreed) {
      agreed = std::move(said);
      continue;
    }
    for (std::size_t k = 0; k < agreed->shapes.size(); ++k) {
      std::optional<Shape>& shape = agreed->shapes[k];
      if (k >= said.shapes.size() || said.types[k] != agreed->types[k]) return std::nullopt;
      if (!shape || !said.shapes[k] || said.shapes[k]->size() != shape->size()) {
        shape.reset();
        continue;
      }
      for (Index d = 0; d < shape->size(); ++d) {
        if ((*said.shapes[k])[d] != (*shape)[d]) (*shape)[d] = -1;
      }
    }
  }
  if (answers < min_answers) return std::nullopt;
  for (std::size_t k = 0; k < agreed->shapes.size(); ++k) {
    if (!agreed->shapes[k]) continue;
    for (Index d = 0; d < agreed->shapes[k]->size(); ++d) {
      Index& size = (*agreed->shapes[k])[d];
      if (size < 0) size = unnamed_size(place + "." + std::to_string(k) + ":" + std::to_string(d));
    }
  }
  return agreed;
}

}  // namespace touchstone
