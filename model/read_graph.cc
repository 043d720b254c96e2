// Reads graphs, nodes and names from a file. The limit on graph depth and protobuf's own bound the
// nesting.
#include "model/metadata.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"

namespace touchstone {
namespace {

template <class Proto, class Held, class Read>
void read_initializer(const Proto& proto, const std::string& name, const std::string& path,
                      const Graph& graph, std::map<std::string, Held>& into, const Read& read) {
  placed([&] { return "initializer '" + name + "', " + graph_place(path); },
         [&] {
           if (graph.initializers.count(name) + graph.sparse_initializers.count(name) > 0) {
             throw breach("model/initializer-twice", "there are two initializers '" + name + "'");
           }
           into.emplace(name, read(proto));
         });
}

void keep_metadata(const pb::TensorProto& tensor, Source& source, Graph& graph) {
  if (SharedMetadata metadata = read_metadata(tensor, source))
    graph.initializer_metadata.emplace(tensor.name(), std::move(metadata));
}

Node read_node(const pb::NodeProto& proto, Index index, Source& source, int depth,
               const std::string& path) {
  Node node;
  node.name = proto.name();
  node.domain = domain_of(proto.domain());
  node.op = proto.op_type();
  node.overload = proto.overload();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  node.index = index;
  node.metadata = read_metadata(proto, source);
  source.drop(proto.device_configurations_size() > 0, "device_configurations");
  for (const pb::AttributeProto& attribute : proto.attribute()) {
    const std::string& name = attribute.name();
    placed([&] { return "attribute '" + name + "', " + place_of(node, path); },
           [&] {
             if (node.attributes.count(name) > 0) {
               throw breach("model/attribute-twice", "there are two attributes '" + name + "'");
             }
             node.attributes.emplace(
                 name, read_attribute(attribute, source, depth, subgraph_path(path, node, name)));
           });
  }
  return node;
}

}  // namespace

std::vector<ValueInfo> read_values(
    const google::protobuf::RepeatedPtrField<pb::ValueInfoProto>& protos, const char* role,
    const std::string& path, Source& source) {
  std::vector<ValueInfo> values;
  values.reserve(static_cast<std::size_t>(protos.size()));
  for (const pb::ValueInfoProto& proto : protos) {
    values.push_back(
        placed([&] { return std::string(role) + " '" + proto.name() + "', " + graph_place(path); },
               [&] { return read_value_info(proto, source); }));
  }
  return values;
}

std::vector<Node> read_nodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& protos,
                             Source& source, int depth, const std::string& path) {
  source.nodes += protos.size();
  if (source.nodes > source.limits.nodes)
    throw over_limit("nodes", source.nodes, source.limits.nodes);
  std::vector<Node> nodes;
  nodes.reserve(static_cast<std::size_t>(protos.size()));
  for (int i = 0; i < protos.size(); ++i, charge_work(1))
    nodes.push_back(read_node(protos[i], i, source, depth, path));
  return nodes;
}

Graph read_graph(const pb::GraphProto& proto, Source& source, int depth, const std::string& path) {
  if (depth > source.limits.graph_depth)
    throw over_limit("graph_depth", depth, source.limits.graph_depth);
  Graph graph;
  graph.name = proto.name();
  graph.nodes = read_nodes(proto.node(), source, depth, path);
  graph.inputs = read_values(proto.input(), "input", path, source);
  graph.outputs = read_values(proto.output(), "output", path, source);
  graph.values = read_values(proto.value_info(), "value", path, source);
  graph.metadata = read_metadata(proto, source);
  source.drop(proto.quantization_annotation_size() > 0, "quantization_annotation");
  for (const pb::TensorProto& tensor : proto.initializer()) {
    read_initializer(tensor, tensor.name(), path, graph, graph.initializers,
                     [&](const pb::TensorProto& held) { return read_tensor(held, source); });
    keep_metadata(tensor, source, graph);
  }
  for (const pb::SparseTensorProto& tensor : proto.sparse_initializer()) {
    read_initializer(tensor, tensor.values().name(), path, graph, graph.sparse_initializers,
                     [&](const pb::SparseTensorProto& held) { return read_sparse(held, source); });
    keep_metadata(tensor.values(), source, graph);
  }
  return graph;
}

}  // namespace touchstone
