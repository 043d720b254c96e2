// Serializes a Model to a file. Fields that a Model cannot hold, listed in Model::unkept, are not
// written.
#include "core/files.h"
#include "model/external_data.h"
#include "model/metadata.h"
#include "model/model.h"

namespace touchstone {
namespace {

void write_graph(const Graph& graph, pb::GraphProto& proto);

struct AttributeWriter {
  pb::AttributeProto& proto;

  void operator()(float held) { proto.set_type(pb::AttributeProto::FLOAT), proto.set_f(held); }
  void operator()(Index held) { proto.set_type(pb::AttributeProto::INT), proto.set_i(held); }
  void operator()(const std::string& held) {
    proto.set_type(pb::AttributeProto::STRING), proto.set_s(held);
  }
  void operator()(const Tensor& held) {
    proto.set_type(pb::AttributeProto::TENSOR);
    write_tensor(held, *proto.mutable_t());
  }
  void operator()(const std::shared_ptr<const Graph>& held) {
    proto.set_type(pb::AttributeProto::GRAPH);
    write_graph(*held, *proto.mutable_g());
  }
  void operator()(const SparseTensor& held) {
    proto.set_type(pb::AttributeProto::SPARSE_TENSOR);
    write_sparse(held, *proto.mutable_sparse_tensor());
  }
  void operator()(const ValueType& held) {
    proto.set_type(pb::AttributeProto::TYPE_PROTO);
    write_type(held, std::nullopt, *proto.mutable_tp());
  }
  void operator()(const std::vector<float>& held) {
    proto.set_type(pb::AttributeProto::FLOATS);
    for (const float item : held) proto.add_floats(item);
  }
  void operator()(const std::vector<Index>& held) {
    proto.set_type(pb::AttributeProto::INTS);
    for (const Index item : held) proto.add_ints(item);
  }
  void operator()(const std::vector<std::string>& held) {
    proto.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& item : held) proto.add_strings(item);
  }
  void operator()(const std::vector<Tensor>& held) {
    proto.set_type(pb::AttributeProto::TENSORS);
    for (const Tensor& item : held) write_tensor(item, *proto.add_tensors());
  }
  void operator()(const std::vector<std::shared_ptr<const Graph>>& held) {
    proto.set_type(pb::AttributeProto::GRAPHS);
    for (const auto& item : held) write_graph(*item, *proto.add_graphs());
  }
  void operator()(const std::vector<SparseTensor>& held) {
    proto.set_type(pb::AttributeProto::SPARSE_TENSORS);
    for (const SparseTensor& item : held) write_sparse(item, *proto.add_sparse_tensors());
  }
  void operator()(const std::vector<ValueType>& held) {
    proto.set_type(pb::AttributeProto::TYPE_PROTOS);
    for (const ValueType& item : held) write_type(item, std::nullopt, *proto.add_type_protos());
  }
};

// In the order of the variant's alternatives. For references, which have a kind but no value.
constexpr pb::AttributeProto::AttributeType kinds[] = {
    pb::AttributeProto::FLOAT,          pb::AttributeProto::INT,
    pb::AttributeProto::STRING,         pb::AttributeProto::TENSOR,
    pb::AttributeProto::GRAPH,          pb::AttributeProto::SPARSE_TENSOR,
    pb::AttributeProto::TYPE_PROTO,     pb::AttributeProto::FLOATS,
    pb::AttributeProto::INTS,           pb::AttributeProto::STRINGS,
    pb::AttributeProto::TENSORS,        pb::AttributeProto::GRAPHS,
    pb::AttributeProto::SPARSE_TENSORS, pb::AttributeProto::TYPE_PROTOS};
static_assert(std::size(kinds) == std::variant_size_v<Attribute::Payload>);

void write_attribute(const std::string& name, const Attribute& attribute,
                     pb::AttributeProto& proto) {
  proto.set_name(name);
  write_metadata(attribute.metadata, proto);
  if (attribute.reference.empty()) {
    std::visit(AttributeWriter{proto}, attribute.is);
  } else {
    proto.set_type(kinds[attribute.is.index()]);
    proto.set_ref_attr_name(attribute.reference);
  }
}

template <class List>
void write_nodes(const std::vector<Node>& nodes, List* protos) {
  for (const Node& node : nodes) {
    pb::NodeProto& proto = *protos->Add();
    if (!node.name.empty()) proto.set_name(node.name);
    if (!node.domain.empty()) proto.set_domain(node.domain);
    if (!node.overload.empty()) proto.set_overload(node.overload);
    proto.set_op_type(node.op);
    write_metadata(node.metadata, proto);
    for (const std::string& input : node.inputs) proto.add_input(input);
    for (const std::string& output : node.outputs) proto.add_output(output);
    for (const auto& [name, attribute] : node.attributes)
      write_attribute(name, attribute, *proto.add_attribute());
  }
}

template <class List>
void write_values(const std::vector<ValueInfo>& values, List* protos) {
  for (const ValueInfo& value : values) {
    pb::ValueInfoProto& proto = *protos->Add();
    proto.set_name(value.name);
    if (value.type) write_type(*value.type, value.shape, *proto.mutable_type());
    if (!value.denotation.empty()) proto.mutable_type()->set_denotation(value.denotation);
    write_metadata(value.metadata, proto);
  }
}

template <class List>
void write_opsets(const std::map<std::string, Index>& opsets, List* protos) {
  for (const auto& [domain, version] : opsets) {
    pb::OperatorSetIdProto& proto = *protos->Add();
    proto.set_domain(domain);
    proto.set_version(version);
  }
}

void write_initializer_metadata(const Graph& graph, pb::TensorProto& tensor) {
  const auto found = graph.initializer_metadata.find(tensor.name());
  if (found != graph.initializer_metadata.end()) write_metadata(found->second, tensor);
}

void write_graph(const Graph& graph, pb::GraphProto& proto) {
  proto.set_name(graph.name);
  write_metadata(graph.metadata, proto);
  write_nodes(graph.nodes, proto.mutable_node());
  write_values(graph.inputs, proto.mutable_input());
  write_values(graph.outputs, proto.mutable_output());
  write_values(graph.values, proto.mutable_value_info());
  for (const auto& [name, tensor] : graph.initializers) {
    pb::TensorProto& written = *proto.add_initializer();
    write_tensor(tensor, written);
    written.set_name(name);
    write_initializer_metadata(graph, written);
  }
  for (const auto& [name, sparse] : graph.sparse_initializers) {
    pb::SparseTensorProto& written = *proto.add_sparse_initializer();
    write_sparse(sparse, written);
    written.mutable_values()->set_name(name);
    write_initializer_metadata(graph, *written.mutable_values());
  }
}

void write_function(const Function& function, pb::FunctionProto& proto) {
  proto.set_name(function.name);
  proto.set_domain(function.domain);
  if (!function.overload.empty()) proto.set_overload(function.overload);
  for (const std::string& input : function.inputs) proto.add_input(input);
  for (const std::string& output : function.outputs) proto.add_output(output);
  for (const std::string& attribute : function.attributes) proto.add_attribute(attribute);
  for (const auto& [name, attribute] : function.default_attributes) {
    write_attribute(name, attribute, *proto.add_attribute_proto());
  }
  write_nodes(function.nodes, proto.mutable_node());
  write_values(function.values, proto.mutable_value_info());
  write_opsets(function.opsets, proto.mutable_opset_import());
  write_metadata(function.metadata, proto);
}

pb::ModelProto message_of(const Model& model) {
  pb::ModelProto proto;
  proto.set_ir_version(model.ir_version);
  if (!model.producer.empty()) proto.set_producer_name(model.producer);
  if (!model.producer_version.empty()) proto.set_producer_version(model.producer_version);
  if (!model.domain.empty()) proto.set_domain(model.domain);
  if (model.model_version) proto.set_model_version(*model.model_version);
  write_metadata(model.metadata, proto);
  if (model.ir_version >= 3) write_opsets(model.opsets, proto.mutable_opset_import());
  write_graph(model.graph, *proto.mutable_graph());
  for (const auto& function : model.functions) write_function(*function, *proto.add_functions());
  return proto;
}

void write_message(const pb::ModelProto& proto, const std::filesystem::path& file) {
  if (proto.ByteSizeLong() > Limits().file_bytes)
    throw Error(ErrorKind::unsupported, "the model is over 2 GiB without external data");
  write_atomically(file, proto.SerializeAsString());
}

}  // namespace

void save_model(const Model& model, const std::filesystem::path& file) {
  write_message(message_of(model), file);
}

void save_model_and_data(const Model& model, const std::filesystem::path& file) {
  pb::ModelProto proto = message_of(model);
  std::filesystem::path beside = file;
  beside += ".data";
  std::string data;
  for (pb::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data()) continue;  // strings
    const auto add = [&](const char* key, const std::string& value) {
      pb::StringStringEntryProto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    add("location", beside.filename().string());
    add("offset", std::to_string(data.size()));
    add("length", std::to_string(tensor.raw_data().size()));
    data += tensor.raw_data();
    tensor.clear_raw_data();
  }
  write_atomically(beside, std::string_view(data));
  write_message(proto, file);
}

}  // namespace touchstone
