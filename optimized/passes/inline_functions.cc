// A call of one of the model's functions becomes the function's body. The body's own names become
// fresh ones; where the function was written for other versions than the model imports, the call
// stays.
#include <map>

#include "core/error.h"
#include "model/scopes.h"
#include "optimized/passes/graph_passes.h"
#include "reference/references.h"

namespace touchstone {

namespace {

using Names = std::map<std::string, std::string>;

// Writes a body with other names and with the call's attributes in it.
class Writer {
 public:
  Writer(Workbench& bench, const Node& call)
      : bench_(bench), call_(call), attributes_(attributes_of_call(call)) {}

  Node written(const Node& node, Names& names) {
    Node copy = bound(node, attributes_);
    for (std::string& input : copy.inputs) {
      if (!input.empty()) input = names.at(input);
    }
    for (auto& [name, attribute] : copy.attributes) rename_graphs(attribute, names);
    for (std::string& output : copy.outputs) output = named(output, names);
    if (!call_.name.empty()) copy.name = call_.name + (copy.name.empty() ? "" : "/" + copy.name);
    return copy;
  }

 private:
  std::string named(const std::string& name, Names& names) {
    if (name.empty()) return name;
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    const std::string stem = call_.name.empty() ? call_.op : call_.name;
    return names.emplace(name, bench_.fresh(stem + "/" + name)).first->second;
  }

  void rename_graphs(Attribute& attribute, const Names& names) {
    if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
      *one = std::make_shared<const Graph>(renamed(**one, names));
    } else if (auto* all = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
      for (auto& each : *all) each = std::make_shared<const Graph>(renamed(*each, names));
    }
  }

  Graph renamed(const Graph& graph, Names names) {
    Graph copy = graph;
    const auto own = [&](std::string& name) {
      names.erase(name);
      name = named(name, names);
    };
    for (ValueInfo& input : copy.inputs) own(input.name);
    copy.initializers.clear(), copy.sparse_initializers.clear();
    for (const auto& [name, tensor] : graph.initializers) {
      std::string to = name;
      if (!is_input(graph, name)) own(to);
      copy.initializers.emplace(named(name, names), tensor);
    }
    for (const auto& [name, tensor] : graph.sparse_initializers) {
      std::string to = name;
      own(to);
      copy.sparse_initializers.emplace(to, tensor);
    }
    copy.nodes.clear();
    for (const Node& node : graph.nodes) {
      for (const std::string& output : node.outputs) names.erase(output);
      copy.nodes.push_back(written(node, names));
    }
    for (ValueInfo& output : copy.outputs) output.name = names.at(output.name);
    copy.values.clear();
    return copy;
  }

  static bool is_input(const Graph& graph, const std::string& name) {
    return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                       [&](const ValueInfo& input) { return input.name == name; });
  }

  Workbench& bench_;
  const Node& call_;
  const Attributes attributes_;
};

// Does each node of the body mean the same in the model?
bool means_the_same(Workbench& bench, const Function& function) {
  bool same = true;
  for_each_node(function.nodes, [&](const Node& node) {
    if (node.signature == nullptr) return;
    const Index opset = bench.opset(node.domain);
    same = same && opset > 0 && find_signature(node.domain, node.op, opset) == node.signature;
  });
  return same;
}

// The outputs of the body are values that its nodes make, each for one output of the call.
bool has_plain_outputs(const Function& function) {
  std::map<std::string, Index> made;
  for (const Node& node : function.nodes) {
    for (const std::string& output : node.outputs) made.emplace(output, 0);
  }
  for (const std::string& output : function.outputs) {
    const auto found = made.find(output);
    if (found == made.end() || ++found->second > 1) return false;
  }
  return true;
}

void put_in_place(Workbench& bench, Workbench::Place place) {
  const Node call = *place;
  const Function& function = *call.function;
  Names names;
  for (std::size_t k = 0; k < function.inputs.size(); ++k)
    names[function.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
  for (std::size_t k = 0; k < function.outputs.size() && k < call.outputs.size(); ++k) {
    if (!call.outputs[k].empty()) names[function.outputs[k]] = call.outputs[k];
  }
  Writer writer(bench, call);
  for (const Node& node : function.nodes) {
    Node copy = writer.written(node, names);
    while (!copy.inputs.empty() && copy.inputs.back().empty()) copy.inputs.pop_back();
    bench.insert(place, std::move(copy));
  }
  bench.erase(place);
}

}  // namespace

Index inline_functions(Workbench& bench) {
  Index changes = 0;
  for (auto place = bench.nodes().begin(); place != bench.nodes().end();) {
    const auto here = place++;
    if (!here->function || !has_plain_outputs(*here->function) ||
        !means_the_same(bench, *here->function))
      continue;
    put_in_place(bench, here);
    ++changes;
  }
  return changes;
}

}  // namespace touchstone
