// Reads and writes single values, as the standard's test data stores them. The requested type
// determines the message kind.
#include "model/model.h"
#include "model/proto.h"
#include "model/rules.h"

namespace touchstone {
namespace {

using Kind = ValueType::Kind;

Error unlike(const ValueType& type) {
  return breach("model/value-parse", "the message does not hold a value of type " + text(type));
}

const ValueType& inner_of(const ValueType& type) {
  if (!type.inner) throw Error(ErrorKind::usage, "a container's type does not say what it holds");
  return *type.inner;
}

Value read_payload(const pb::OptionalProto& proto, const ValueType& type, const Source& source);
Value read_payload(const pb::SequenceProto& proto, const ValueType& type, const Source& source);

Value read_payload(const pb::MapProto& proto, const ValueType& type, const Source& source) {
  Map map;
  map.key = read_element_type(proto.key_type());
  map.value = inner_of(type);
  if (map.key != type.element) throw unlike(type);
  const ValueType values{Kind::sequence, Type::undefined, type.inner};
  Value read = read_payload(proto.values(), values, source);
  std::vector<Value>& items = std::get<Sequence>(read.is).items;
  const bool by_string = map.key == Type::string;
  const int keys = by_string ? proto.string_keys_size() : proto.keys_size();
  if (static_cast<std::size_t>(keys) != items.size()) {
    throw breach("model/value-parse", "a map has " + std::to_string(keys) + " keys and " +
                                          std::to_string(items.size()) + " values");
  }
  const auto filled = [&](auto& entries, const auto& key_at) {
    typename std::remove_reference_t<decltype(entries)>::Entries all;
    all.reserve(items.size());
    for (int i = 0; i < keys; ++i)
      all.emplace_back(key_at(i), std::move(items[static_cast<std::size_t>(i)]));
    return entries.fill(std::move(all));
  };
  const bool are_fresh = by_string
                             ? filled(map.by_string, [&](int i) { return proto.string_keys(i); })
                             : filled(map.by_integer, [&](int i) { return Index{proto.keys(i)}; });
  if (!are_fresh) throw breach("model/value-parse", "a map has a key twice");
  return map;
}

Value read_payload(const pb::TensorProto& proto, const ValueType&, const Source& source) {
  return read_tensor(proto, source);
}

Value read_payload(const pb::SparseTensorProto& proto, const ValueType&, const Source& source) {
  return read_sparse(proto, source);
}

Value read_payload(const pb::SequenceProto& proto, const ValueType& type, const Source& source) {
  const ValueType& inner = inner_of(type);
  Sequence sequence{inner, {}};
  const auto append = [&](Kind kind, const auto& items) {
    if (items.size() > 0 && inner.kind != kind) throw unlike(type);
    for (const auto& item : items) sequence.items.push_back(read_payload(item, inner, source));
  };
  append(Kind::tensor, proto.tensor_values());
  append(Kind::sparse_tensor, proto.sparse_tensor_values());
  append(Kind::sequence, proto.sequence_values());
  append(Kind::map, proto.map_values());
  append(Kind::optional, proto.optional_values());
  return sequence;
}

Value read_payload(const pb::OptionalProto& proto, const ValueType& type, const Source& source) {
  const ValueType& inner = inner_of(type);
  Optional optional{inner, nullptr};
  const auto hold = [&](Kind kind, bool filled, const auto& item) {
    if (!filled) return;
    if (inner.kind != kind || optional.item) throw unlike(type);
    optional.item = std::make_shared<const Value>(read_payload(item, inner, source));
  };
  hold(Kind::tensor, proto.has_tensor_value(), proto.tensor_value());
  hold(Kind::sparse_tensor, proto.has_sparse_tensor_value(), proto.sparse_tensor_value());
  hold(Kind::sequence, proto.has_sequence_value(), proto.sequence_value());
  hold(Kind::map, proto.has_map_value(), proto.map_value());
  hold(Kind::optional, proto.has_optional_value(), proto.optional_value());
  return optional;
}

template <class Proto>
Value parse_as(std::span<const std::byte> bytes, const ValueType& type, const Source& source) {
  Proto proto;
  const Messages messages = parse_message(bytes, proto, "model/value-parse", source.limits);
  return read_payload(proto, type, source);
}

Value parse_from(std::span<const std::byte> bytes, const ValueType& type, const Source& source) {
  const LimitsScope scope(source.limits);
  switch (type.kind) {
    case Kind::tensor:
      return parse_as<pb::TensorProto>(bytes, type, source);
    case Kind::sparse_tensor:
      return parse_as<pb::SparseTensorProto>(bytes, type, source);
    case Kind::sequence:
      return parse_as<pb::SequenceProto>(bytes, type, source);
    case Kind::optional:
      return parse_as<pb::OptionalProto>(bytes, type, source);
    case Kind::map:
      return parse_as<pb::MapProto>(bytes, type, source);
  }
  BUG("a kind of value that does not exist");
}

void write_payload(const Value& value, pb::TensorProto& proto) {
  write_tensor(value.tensor(), proto);
}
void write_payload(const Value& value, pb::SparseTensorProto& proto) {
  write_sparse(std::get<SparseTensor>(value.is), proto);
}
void write_payload(const Value& value, pb::OptionalProto& proto);
void write_payload(const Value& value, pb::MapProto& proto);

void write_payload(const Value& value, pb::SequenceProto& proto) {
  const Sequence& sequence = std::get<Sequence>(value.is);
  for (const Value& item : sequence.items) {
    switch (item.type().kind) {
      case Kind::tensor:
        write_payload(item, *proto.add_tensor_values());
        break;
      case Kind::sparse_tensor:
        write_payload(item, *proto.add_sparse_tensor_values());
        break;
      case Kind::sequence:
        write_payload(item, *proto.add_sequence_values());
        break;
      case Kind::optional:
        write_payload(item, *proto.add_optional_values());
        break;
      case Kind::map:
        write_payload(item, *proto.add_map_values());
        break;
    }
  }
  switch (sequence.inner.kind) {
    case Kind::tensor:
      proto.set_elem_type(pb::SequenceProto::TENSOR);
      break;
    case Kind::sparse_tensor:
      proto.set_elem_type(pb::SequenceProto::SPARSE_TENSOR);
      break;
    case Kind::sequence:
      proto.set_elem_type(pb::SequenceProto::SEQUENCE);
      break;
    case Kind::optional:
      proto.set_elem_type(pb::SequenceProto::OPTIONAL);
      break;
    case Kind::map:
      proto.set_elem_type(pb::SequenceProto::MAP);
      break;
  }
}

void write_payload(const Value& value, pb::OptionalProto& proto) {
  const Optional& optional = std::get<Optional>(value.is);
  switch (optional.inner.kind) {
    case Kind::tensor:
      proto.set_elem_type(pb::OptionalProto::TENSOR);
      break;
    case Kind::sparse_tensor:
      proto.set_elem_type(pb::OptionalProto::SPARSE_TENSOR);
      break;
    case Kind::sequence:
      proto.set_elem_type(pb::OptionalProto::SEQUENCE);
      break;
    case Kind::optional:
      proto.set_elem_type(pb::OptionalProto::OPTIONAL);
      break;
    case Kind::map:
      proto.set_elem_type(pb::OptionalProto::MAP);
      break;
  }
  if (!optional.item) return;
  switch (optional.inner.kind) {
    case Kind::tensor:
      write_payload(*optional.item, *proto.mutable_tensor_value());
      break;
    case Kind::sparse_tensor:
      write_payload(*optional.item, *proto.mutable_sparse_tensor_value());
      break;
    case Kind::sequence:
      write_payload(*optional.item, *proto.mutable_sequence_value());
      break;
    case Kind::optional:
      write_payload(*optional.item, *proto.mutable_optional_value());
      break;
    case Kind::map:
      write_payload(*optional.item, *proto.mutable_map_value());
      break;
  }
}

void write_payload(const Value& value, pb::MapProto& proto) {
  const Map& map = std::get<Map>(value.is);
  proto.set_key_type(static_cast<int>(map.key));
  Sequence values{map.value, {}};
  for (const auto& [key, item] : map.by_integer) proto.add_keys(key), values.items.push_back(item);
  for (const auto& [key, item] : map.by_string)
    proto.add_string_keys(key), values.items.push_back(item);
  write_payload(Value(std::move(values)), *proto.mutable_values());
}

template <class Proto>
std::string serialize_as(const Value& value) {
  Proto proto;
  write_payload(value, proto);
  return proto.SerializeAsString();
}

}  // namespace

Value parse_value(std::span<const std::byte> bytes, const ValueType& type, const Limits& limits) {
  return parse_from(bytes, type, Source{nullptr, limits});
}

Value load_value(const std::filesystem::path& file, const ValueType& type, const Limits& limits) {
  return placed([&] { return "file '" + file.string() + "'"; },
                [&] {
                  const std::filesystem::path folder =
                      file.parent_path().empty() ? "." : file.parent_path();
                  const OpenFile opened = open_trusted(file);
                  const Charge held(opened.size());
                  const std::string bytes = opened.read_all(limits);
                  return parse_from(std::as_bytes(std::span(bytes)), type, Source{&folder, limits});
                });
}

std::string serialize_value(const Value& value) {
  if (value.absent()) throw Error(ErrorKind::usage, "a value that is absent cannot be stored");
  switch (value.type().kind) {
    case Kind::tensor:
      return serialize_as<pb::TensorProto>(value);
    case Kind::sparse_tensor:
      return serialize_as<pb::SparseTensorProto>(value);
    case Kind::sequence:
      return serialize_as<pb::SequenceProto>(value);
    case Kind::optional:
      return serialize_as<pb::OptionalProto>(value);
    case Kind::map:
      return serialize_as<pb::MapProto>(value);
  }
  BUG("a kind of value that does not exist");
}

}  // namespace touchstone
