// Reads and writes types of values. Parts that the file leaves open stay open; parts that it states
// must be known.
#include "model/metadata.h"
#include "model/rules.h"

namespace touchstone {
namespace {

std::vector<Dim> read_shape(const pb::TensorShapeProto& proto) {
  std::vector<Dim> dims;
  for (const auto& dim : proto.dim()) {
    Dim& read = dims.emplace_back();
    // Converters of other formats write -1 or "?" for an open size.
    if (dim.has_dim_value() && dim.dim_value() != -1) read.size = dim.dim_value();
    if (dim.dim_param() != "?") read.symbol = dim.dim_param();
    read.denotation = dim.denotation();
  }
  return dims;
}

std::shared_ptr<const ValueType> inner_type(const pb::TypeProto& proto) {
  const std::optional<ValueType> inner = read_type(proto);
  if (!inner) throw breach("model/tensor-type", "a container does not say what it holds");
  return std::make_shared<const ValueType>(*inner);
}

template <class Proto>
std::optional<ValueType> read_dense(ValueType::Kind kind, const Proto& proto,
                                    std::optional<std::vector<Dim>>* shape) {
  if (shape != nullptr && proto.has_shape()) *shape = read_shape(proto.shape());
  if (proto.elem_type() == 0) return std::nullopt;
  return ValueType{kind, read_element_type(proto.elem_type()), nullptr};
}

void write_shape(const std::vector<Dim>& shape, pb::TensorShapeProto& proto) {
  for (const Dim& dim : shape) {
    auto& written = *proto.add_dim();
    if (dim.size)
      written.set_dim_value(*dim.size);
    else if (!dim.symbol.empty())
      written.set_dim_param(dim.symbol);
    if (!dim.denotation.empty()) written.set_denotation(dim.denotation);
  }
}

}  // namespace

std::optional<ValueType> read_type(const pb::TypeProto& proto,
                                   std::optional<std::vector<Dim>>* shape) {
  using Kind = ValueType::Kind;
  switch (proto.value_case()) {
    case pb::TypeProto::kTensorType:
      return read_dense(Kind::tensor, proto.tensor_type(), shape);
    case pb::TypeProto::kSparseTensorType:
      return read_dense(Kind::sparse_tensor, proto.sparse_tensor_type(), shape);
    case pb::TypeProto::kSequenceType:
      return ValueType{Kind::sequence, Type::undefined,
                       inner_type(proto.sequence_type().elem_type())};
    case pb::TypeProto::kOptionalType:
      return ValueType{Kind::optional, Type::undefined,
                       inner_type(proto.optional_type().elem_type())};
    case pb::TypeProto::kMapType: {
      const Type key = read_element_type(proto.map_type().key_type());
      if (key != Type::string && !facts(key).is_integer) {
        throw breach("model/type-unknown", "a map's keys are " + std::string(name(key)));
      }
      return ValueType{Kind::map, key, inner_type(proto.map_type().value_type())};
    }
    case pb::TypeProto::kOpaqueType:
      throw breach("model/type-unknown",
                   "the opaque type '" + proto.opaque_type().name() + "' is not known");
    case pb::TypeProto::VALUE_NOT_SET:
      break;
  }
  return std::nullopt;
}

ValueInfo read_value_info(const pb::ValueInfoProto& proto, Source& source) {
  ValueInfo info;
  info.name = proto.name();
  if (proto.has_type()) info.type = read_type(proto.type(), &info.shape);
  info.denotation = proto.type().denotation();
  info.metadata = read_metadata(proto, source);
  return info;
}

void write_type(const ValueType& type, const std::optional<std::vector<Dim>>& shape,
                pb::TypeProto& proto) {
  switch (type.kind) {
    case ValueType::Kind::tensor: {
      auto& written = *proto.mutable_tensor_type();
      written.set_elem_type(static_cast<int>(type.element));
      if (shape) write_shape(*shape, *written.mutable_shape());
      break;
    }
    case ValueType::Kind::sparse_tensor: {
      auto& written = *proto.mutable_sparse_tensor_type();
      written.set_elem_type(static_cast<int>(type.element));
      if (shape) write_shape(*shape, *written.mutable_shape());
      break;
    }
    case ValueType::Kind::sequence:
      write_type(*type.inner, std::nullopt, *proto.mutable_sequence_type()->mutable_elem_type());
      break;
    case ValueType::Kind::optional:
      write_type(*type.inner, std::nullopt, *proto.mutable_optional_type()->mutable_elem_type());
      break;
    case ValueType::Kind::map:
      proto.mutable_map_type()->set_key_type(static_cast<int>(type.element));
      write_type(*type.inner, std::nullopt, *proto.mutable_map_type()->mutable_value_type());
      break;
  }
}

}  // namespace touchstone
