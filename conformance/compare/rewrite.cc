// Adds outputs to models and cuts nodes out of them; nodes are never changed.
#include "conformance/compare/rewrite.h"

#include <algorithm>

#include "core/error.h"
#include "model/model.h"
#include "model/scopes.h"
#include "reference/shapes/shapes.h"

namespace touchstone::compare {
namespace {

std::set<std::string> names_of(const std::vector<ValueInfo>& infos) {
  std::set<std::string> names;
  for (const ValueInfo& info : infos) names.insert(info.name);
  return names;
}

bool answers_to(const Node& node, const std::string& name) {
  return node.name == name || "#" + std::to_string(node.index) == name ||
         std::find(node.outputs.begin(), node.outputs.end(), name) != node.outputs.end();
}

std::vector<Dim> dims_of(const Tensor& tensor) {
  std::vector<Dim> dims;
  for (const Index size : tensor.shape()) dims.push_back({size, ""});
  return dims;
}

ValueInfo described(const std::string& name, const Value& value) {
  ValueInfo info{name, value.type(), {}};
  if (value.is_tensor()) info.shape = dims_of(value.tensor());
  return info;
}

}  // namespace

std::vector<std::string> hidden_values(const Model& model) {
  const std::set<std::string> shown = names_of(model.graph.outputs);
  std::vector<std::string> hidden;
  for (const Node& node : model.graph.nodes) {
    for (const std::string& name : node.outputs) {
      if (!name.empty() && !shown.contains(name)) hidden.push_back(name);
    }
  }
  return hidden;
}

std::map<std::string, ValueType> types_of_values(const Model& model) {
  std::map<std::string, ValueType> types;
  const Graph& graph = model.graph;
  for (const std::vector<ValueInfo>* infos : {&graph.inputs, &graph.outputs, &graph.values}) {
    for (const ValueInfo& info : *infos) {
      if (info.type) types.emplace(info.name, *info.type);
    }
  }
  for (const InferredValue& value : infer_shapes(model, Limits::trusted()).values) {
    if (value.path.empty() && value.type) types.emplace(value.name, *value.type);
  }
  return types;
}

Model with_taps(const Model& model, const std::vector<std::string>& taps,
                const std::map<std::string, ValueType>& types) {
  Model tapped = model;
  for (const std::string& name : taps) {
    ValueInfo output{name, {}, {}};
    if (const auto found = types.find(name); found != types.end()) output.type = found->second;
    tapped.graph.outputs.push_back(std::move(output));
  }
  return tapped;
}

std::vector<std::string> taps_around(const Model& model, const std::vector<std::string>& nodes) {
  std::set<std::string> wanted;
  for (const std::string& name : nodes) {
    bool found = false;
    for (const Node& node : model.graph.nodes) {
      if (name.empty() || !answers_to(node, name)) continue;
      found = true;
      for (const std::string& used : names_used(node)) wanted.insert(used);
      wanted.insert(node.outputs.begin(), node.outputs.end());
    }
    if (!found) {
      throw Error(ErrorKind::usage, "no node of the main graph is '" + name + "'")
          .with_help(
              "a node is named by its name, by an output or as #POSITION; touchstone show MODEL "
              "--nodes lists them");
    }
  }
  std::vector<std::string> taps;
  for (const std::string& name : hidden_values(model)) {
    if (wanted.contains(name)) taps.push_back(name);
  }
  return taps;
}

Model cut_out(const Model& model, const std::set<Index>& nodes,
              const std::map<std::string, Value>& values) {
  Model part;
  part.ir_version = model.ir_version;
  part.opsets = model.opsets;
  part.functions = model.functions;
  part.graph.name = "part";
  std::set<std::string> known;
  std::vector<ValueInfo> defaults;  // before IR 4 an initializer is an input too; these come last
  const auto read = [&](const std::string& name) {
    if (!known.insert(name).second) return;
    if (const auto seen = values.find(name); seen != values.end() && !seen->second.absent()) {
      part.graph.inputs.push_back(described(name, seen->second));
    } else if (const auto constant = model.graph.initializers.find(name);
               constant != model.graph.initializers.end()) {
      part.graph.initializers.insert(*constant);
      if (model.ir_version < 4) defaults.push_back(described(name, constant->second));
    } else if (const auto sparse = model.graph.sparse_initializers.find(name);
               sparse != model.graph.sparse_initializers.end()) {
      part.graph.sparse_initializers.insert(*sparse);
    } else {
      throw Error(ErrorKind::usage, "there is no value of '" + name + "' to cut the model at");
    }
  };
  for (const Node& node : model.graph.nodes) {
    if (!nodes.contains(node.index)) continue;
    for (const std::string& name : names_used(node)) read(name);
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      known.insert(name);
      const auto seen = values.find(name);
      if (seen == values.end()) continue;
      ValueInfo output{name, {}, {}};
      if (!seen->second.absent()) output.type = seen->second.type();
      part.graph.outputs.push_back(std::move(output));
    }
    part.graph.nodes.push_back(node);
    part.graph.nodes.back().index = static_cast<Index>(part.graph.nodes.size()) - 1;
  }
  part.graph.inputs.insert(part.graph.inputs.end(), defaults.begin(), defaults.end());
  return part;
}

}  // namespace touchstone::compare
