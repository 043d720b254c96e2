// Feeds of a model: numbers that repeat from -2 to 4.
#include "fuzz/bytes/feeds.h"

#include "core/numbers/convert.h"

namespace touchstone::bytes {
namespace {

constexpr Index open_size = 2;
constexpr Index numbers = 7;

Tensor counted(Type type, const Shape& shape) {
  Tensor made(type, shape);
  charge_work(made.size());
  for (Index k = 0; k < made.size(); ++k) {
    if (type == Type::string)
      made.data<std::string>()[k] = std::to_string(k % numbers);
    else if (type == Type::boolean)
      set_code(made, k, static_cast<std::uint64_t>(k % 2));
    else if (type == Type::complex64)
      made.data<float>()[2 * k] = static_cast<float>(k % numbers);
    else if (type == Type::complex128)
      made.data<double>()[2 * k] = static_cast<double>(k % numbers);
    else
      set_number(made, k, static_cast<long double>(k % numbers - 2));
  }
  return made;
}

Value value_of(const ValueType& type, const Shape& shape) {
  switch (type.kind) {
    case ValueType::Kind::tensor:
      return counted(type.element, shape);
    case ValueType::Kind::sequence:
      return Sequence{*type.inner, {value_of(*type.inner, {2}), value_of(*type.inner, {2})}};
    case ValueType::Kind::optional:
      return Optional{*type.inner, std::make_shared<const Value>(value_of(*type.inner, shape))};
    case ValueType::Kind::map:
    case ValueType::Kind::sparse_tensor:
      break;
  }
  throw Error(ErrorKind::unsupported, "there is no feed of type " + text(type));
}

Shape shape_of(const ValueInfo& input) {
  Shape shape;
  if (!input.shape) throw Error(ErrorKind::unsupported, "an input has no rank");
  for (const Dim& dim : *input.shape) shape.push_back(dim.size.value_or(open_size));
  return shape;
}

}  // namespace

Model valid_model(Bytes input, const Limits& limits) {
  Model model = parse_model(input, {}, limits);
  require_valid(model, limits);
  return model;
}

Feeds feeds_of(const Model& model) {
  Feeds feeds;
  for (const ValueInfo& input : model.graph.inputs) {
    if (model.graph.initializers.contains(input.name)) continue;
    if (!input.type) throw Error(ErrorKind::unsupported, "an input has no type");
    const bool dense = input.type->kind == ValueType::Kind::tensor;
    feeds.emplace(input.name, value_of(*input.type, dense ? shape_of(input) : Shape{2}));
  }
  return feeds;
}

}  // namespace touchstone::bytes
