// Reads attributes from a file. The message can hold fourteen fields at once; only the one of its
// type may be set.
#include "model/metadata.h"
#include "model/rules.h"

namespace touchstone {
namespace {

using Kind = pb::AttributeProto::AttributeType;

struct Filled {
  Kind kind;
  bool filled;
};

// Returns the attribute's kind. Files before IR version 2 omit the type: the field that is set then
// determines it.
Kind kind_of(const pb::AttributeProto& proto) {
  const Filled fields[] = {
      {pb::AttributeProto::FLOAT, proto.has_f()},
      {pb::AttributeProto::INT, proto.has_i()},
      {pb::AttributeProto::STRING, proto.has_s()},
      {pb::AttributeProto::TENSOR, proto.has_t()},
      {pb::AttributeProto::GRAPH, proto.has_g()},
      {pb::AttributeProto::SPARSE_TENSOR, proto.has_sparse_tensor()},
      {pb::AttributeProto::TYPE_PROTO, proto.has_tp()},
      {pb::AttributeProto::FLOATS, proto.floats_size() > 0},
      {pb::AttributeProto::INTS, proto.ints_size() > 0},
      {pb::AttributeProto::STRINGS, proto.strings_size() > 0},
      {pb::AttributeProto::TENSORS, proto.tensors_size() > 0},
      {pb::AttributeProto::GRAPHS, proto.graphs_size() > 0},
      {pb::AttributeProto::SPARSE_TENSORS, proto.sparse_tensors_size() > 0},
      {pb::AttributeProto::TYPE_PROTOS, proto.type_protos_size() > 0},
  };
  Kind kind = proto.type();
  for (const Filled& field : fields) {
    if (!field.filled || field.kind == kind) continue;
    if (kind != pb::AttributeProto::UNDEFINED)
      throw breach("model/attribute-value", "it holds values of two kinds");
    kind = field.kind;
  }
  if (kind == pb::AttributeProto::UNDEFINED)
    throw breach("model/attribute-value", "it holds no value");
  return kind;
}

void need(bool there) {
  if (!there) throw breach("model/attribute-value", "its value is missing");
}

ValueType whole_type(const pb::TypeProto& proto) {
  const std::optional<ValueType> type = read_type(proto);
  if (!type) throw breach("model/tensor-type", "it is a type that says nothing");
  return *type;
}

template <class Held, class List, class Read>
std::vector<Held> each(const List& list, const Read& read) {
  std::vector<Held> all;
  all.reserve(static_cast<std::size_t>(list.size()));
  for (const auto& item : list) all.push_back(read(item));
  return all;
}

Attribute::Payload read_payload(const pb::AttributeProto& proto, Source& source, int depth,
                                const std::string& path) {
  using SharedGraph = std::shared_ptr<const Graph>;
  const auto graph = [&](const pb::GraphProto& held) -> SharedGraph {
    return std::make_shared<Graph>(read_graph(held, source, depth + 1, path));
  };
  const auto tensor = [&](const pb::TensorProto& held) {
    source.drop(held.has_doc_string() || held.metadata_props_size() > 0,
                "metadata of tensors in attributes");
    return read_tensor(held, source);
  };
  const auto sparse = [&](const pb::SparseTensorProto& held) { return read_sparse(held, source); };
  const bool here = proto.ref_attr_name().empty();  // a reference has a kind but no value
  switch (kind_of(proto)) {
    // Writers without field presence omit zeros and empty strings.
    case pb::AttributeProto::FLOAT:
      return proto.f();
    case pb::AttributeProto::INT:
      return Index{proto.i()};
    case pb::AttributeProto::STRING:
      return proto.s();
    case pb::AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case pb::AttributeProto::INTS:
      return std::vector<Index>(proto.ints().begin(), proto.ints().end());
    case pb::AttributeProto::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case pb::AttributeProto::TENSOR:
      return here ? need(proto.has_t()), tensor(proto.t()) : Tensor();
    case pb::AttributeProto::GRAPH:
      return here ? need(proto.has_g()), graph(proto.g()) : SharedGraph();
    case pb::AttributeProto::SPARSE_TENSOR:
      return here ? need(proto.has_sparse_tensor()), sparse(proto.sparse_tensor()) : SparseTensor();
    case pb::AttributeProto::TYPE_PROTO:
      return here ? need(proto.has_tp()), whole_type(proto.tp()) : ValueType();
    case pb::AttributeProto::TENSORS:
      return each<Tensor>(proto.tensors(), tensor);
    case pb::AttributeProto::GRAPHS:
      return each<SharedGraph>(proto.graphs(), graph);
    case pb::AttributeProto::SPARSE_TENSORS:
      return each<SparseTensor>(proto.sparse_tensors(), sparse);
    case pb::AttributeProto::TYPE_PROTOS:
      return each<ValueType>(proto.type_protos(), whole_type);
    case pb::AttributeProto::UNDEFINED:
      break;
  }
  BUG("an attribute without a kind");
}

}  // namespace

Attribute read_attribute(const pb::AttributeProto& proto, Source& source, int depth,
                         const std::string& path) {
  return Attribute{read_payload(proto, source, depth, path), proto.ref_attr_name(),
                   read_metadata(proto, source)};
}

}  // namespace touchstone
