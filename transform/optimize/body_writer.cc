// Copies of a body's nodes. Names of values are made unique, those of nodes tell the call.
#include "transform/optimize/body_writer.h"

#include "core/error.h"

namespace touchstone::transform {
namespace {

// Longer stems are cut: prefixed to many names, a long one would take more memory than the model.
constexpr std::size_t longest_stem = 128;

std::string shortened(const std::string& name) { return name.substr(0, longest_stem); }

}  // namespace

const std::string& BodyNames::at(const std::string& name) const {
  bool free = false;
  for (const BodyNames* names = this; names != nullptr; names = names->outer) {
    if (const auto found = names->own.find(name); found != names->own.end()) return found->second;
    free = free || names->captures;
  }
  if (!free) BUG("a body uses a name that nothing defines");
  return name;
}

BodyWriter::BodyWriter(MutableGraph& graph, const Node& call)
    : graph_(graph),
      call_(call),
      attributes_(call.function ? attributes_of_call(call) : Attributes()) {}

Node BodyWriter::written(const Node& node, BodyNames& names) {
  Node copy = call_.function ? bound(node, attributes_) : node;
  for (std::string& input : copy.inputs) {
    if (!input.empty()) input = names.at(input);
  }
  for (auto& [name, attribute] : copy.attributes) rename_graphs(attribute, names);
  for (std::string& output : copy.outputs) output = named(output, names);
  if (!copy.metadata) copy.metadata = call_.metadata;
  if (!call_.name.empty())
    copy.name = shortened(call_.name) + (copy.name.empty() ? "" : "/" + copy.name);
  return copy;
}

std::string BodyWriter::named(const std::string& name, BodyNames& names) {
  if (name.empty()) return name;
  const auto found = names.own.find(name);
  if (found != names.own.end()) return found->second;
  const std::string stem = shortened(call_.name.empty() ? call_.op : call_.name);
  return names.own.emplace(name, graph_.fresh(stem + "/" + name)).first->second;
}

void BodyWriter::rename_graphs(Attribute& attribute, const BodyNames& names) {
  if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
    *one = std::make_shared<const Graph>(renamed(**one, names));
  } else if (auto* all = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
    for (auto& each : *all) each = std::make_shared<const Graph>(renamed(*each, names));
  }
}

Graph BodyWriter::renamed(const Graph& graph, const BodyNames& outer) {
  Graph copy = graph;
  BodyNames names{&outer};
  for (ValueInfo& input : copy.inputs) input.name = named(input.name, names);
  copy.initializers.clear(), copy.sparse_initializers.clear();
  copy.initializer_metadata.clear();
  for (const auto& [name, tensor] : graph.initializers)
    copy.initializers.emplace(named(name, names), tensor);
  for (const auto& [name, tensor] : graph.sparse_initializers)
    copy.sparse_initializers.emplace(named(name, names), tensor);
  for (const auto& [name, metadata] : graph.initializer_metadata)
    copy.initializer_metadata.emplace(named(name, names), metadata);
  copy.nodes.clear();
  for (const Node& node : graph.nodes) copy.nodes.push_back(written(node, names));
  for (ValueInfo& output : copy.outputs) output.name = names.at(output.name);
  std::erase_if(copy.values,
                [&](const ValueInfo& value) { return !names.own.contains(value.name); });
  for (ValueInfo& value : copy.values) value.name = names.own.at(value.name);
  return copy;
}

}  // namespace touchstone::transform
