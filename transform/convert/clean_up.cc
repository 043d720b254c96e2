// Cleans up a converted model. Names are unique in a model, so one set of names covers all of its
// graphs.
#include "transform/convert/clean_up.h"

#include <algorithm>

#include "core/error.h"
#include "model/scopes.h"
#include "transform/convert/step.h"

namespace touchstone::transform {

namespace {

// Format versions that introduced functions, overloads of functions, and constants that are not
// graph inputs.
constexpr Index ir_of_functions = 8, ir_of_overloads = 10, ir_of_constants = 4;

void add_uses(const std::vector<Node>& nodes, std::set<std::string>& used) {
  for_each_node(nodes, [&](const Node& node) {
    used.insert(node.inputs.begin(), node.inputs.end());
    for (const Subgraph& inner : subgraphs_of(node)) {
      for (const ValueInfo& output : inner.graph->outputs) used.insert(output.name);
    }
  });
}

void add_uses(const Graph& graph, std::set<std::string>& used) {
  for (const ValueInfo& output : graph.outputs) used.insert(output.name);
  add_uses(graph.nodes, used);
}

std::set<std::string> uses_of(const Model& model) {
  std::set<std::string> used;
  add_uses(model.graph, used);
  for (const std::shared_ptr<Function>& function : model.functions) {
    used.insert(function->outputs.begin(), function->outputs.end());
    add_uses(function->nodes, used);
  }
  return used;
}

bool may_go(const Node& node, const std::set<std::string>& idle) {
  if (node.function || node.signature == nullptr || !subgraphs_of(node).empty()) return false;
  return !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [&](const std::string& output) {
           return output.empty() || idle.contains(output);
         });
}

bool is_input(const Graph& graph, const std::string& name) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const ValueInfo& input) { return input.name == name; });
}

template <class Visit>
void visit_graphs(std::vector<Node>& nodes, const Visit& visit) {
  for (Node& node : nodes) {
    for (auto& [name, attribute] : node.attributes) {
      if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is)) {
        if (*one) *one = visit(**one);
      } else if (auto* all =
                     std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
        for (auto& each : *all) {
          if (each) each = visit(*each);
        }
      }
    }
  }
}

void number(std::vector<Node>& nodes) {
  Index index = 0;
  for (Node& node : nodes) node.index = index++;
  visit_graphs(nodes, [](const Graph& graph) {
    auto made = std::make_shared<Graph>(graph);
    number(made->nodes);
    return made;
  });
}

bool drop(std::vector<Node>& nodes, const std::set<std::string>& idle);

// Drops the entries of values that no longer exist.
void forget(std::vector<ValueInfo>& values, std::set<std::string> defined,
            const std::vector<Node>& nodes) {
  for (const Node& node : nodes) defined.insert(node.outputs.begin(), node.outputs.end());
  std::erase_if(values, [&](const ValueInfo& value) { return !defined.contains(value.name); });
}

bool drop(Graph& graph, const std::set<std::string>& idle) {
  bool any = std::erase_if(graph.initializers, [&](const auto& entry) {
               return idle.contains(entry.first) && !is_input(graph, entry.first);
             }) > 0;
  any = drop(graph.nodes, idle) || any;
  std::set<std::string> defined;
  for (const ValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) defined.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) defined.insert(name);
  std::erase_if(graph.initializer_metadata,
                [&](const auto& entry) { return !defined.contains(entry.first); });
  forget(graph.values, std::move(defined), graph.nodes);
  return any;
}

bool drop(std::vector<Node>& nodes, const std::set<std::string>& idle) {
  bool any = std::erase_if(nodes, [&](const Node& node) { return may_go(node, idle); }) > 0;
  visit_graphs(nodes, [&](const Graph& graph) {
    auto made = std::make_shared<Graph>(graph);
    any = drop(*made, idle) || any;
    return made;
  });
  return any;
}

// Returns the format of the first release that supports all of the model's opsets.
Index first_format(const Model& model) {
  Index ir = 0;
  for (const auto& [domain, opset] : model.opsets) {
    for (const Release& release : all_releases()) {
      if (release.domain != domain || release.opset < opset) continue;
      ir = std::max(ir, release.ir);
      break;
    }
  }
  return ir;
}

// Returns the format of the last release that supports no newer opsets than the model's.
Index last_format(const Model& model) {
  Index ir = model.ir_version;
  for (const auto& [domain, opset] : model.opsets) {
    Index here = 0;
    for (const Release& release : all_releases()) {
      if (release.domain == domain && release.opset <= opset) here = release.ir;
    }
    if (here > 0) ir = std::min(ir, here);
  }
  return ir;
}

Index min_format(const Model& model) {
  Index least = 0;
  for (const std::shared_ptr<Function>& function : model.functions)
    least = std::max(least, function->overload.empty() ? ir_of_functions : ir_of_overloads);
  return least;
}

}  // namespace

Uses::Uses(const Model& model) : used_(uses_of(model)) {}

void Uses::clean_up(Model& model) const {
  bool more = true;
  while (more) {
    const std::set<std::string> used = uses_of(model);
    std::set<std::string> idle;
    std::set_difference(used_.begin(), used_.end(), used.begin(), used.end(),
                        std::inserter(idle, idle.end()));
    more = drop(model.graph, idle);
    for (std::shared_ptr<Function>& function : model.functions) {
      more = drop(function->nodes, idle) || more;
      forget(function->values, {function->inputs.begin(), function->inputs.end()}, function->nodes);
    }
  }
}

Node constant_node(const std::string& name, Tensor value, const Node& instead,
                   const Imports& imports) {
  for (const Signature& signature : all_signatures()) {
    // Finds Constant by its signature: no inputs, one output, an attribute `value`.
    if (!signature.domain.empty() || !signature.inputs.empty() || signature.outputs.size() != 1)
      continue;
    if (attribute_of(signature, "value") == nullptr || attribute_of(signature, "dtype") != nullptr)
      continue;
    Node node;
    node.op = signature.op;
    node.signature = imports.find("", signature.op);
    if (node.signature == nullptr) break;
    node.name = instead.name.empty() ? "" : instead.name + "/" + name;
    node.metadata = instead.metadata;
    node.outputs = {name};
    node.attributes.emplace("value", Attribute{std::move(value), ""});
    return node;
  }
  throw Error(ErrorKind::unsupported, "a function without ai.onnx cannot hold a constant");
}

void number(Model& model) {
  number(model.graph.nodes);
  for (std::shared_ptr<Function>& function : model.functions) number(function->nodes);
}

void fit_format(Model& model, bool lower) {
  model.ir_version = std::max(
      {lower ? last_format(model) : model.ir_version, first_format(model), min_format(model)});
  if (model.ir_version >= ir_of_constants) return;
  // Before that version, every initializer must be a graph input too: its default.
  for (const auto& [name, tensor] : model.graph.initializers) {
    if (is_input(model.graph, name)) continue;
    ValueInfo input{name, tensor_type(tensor.type()), std::vector<Dim>{}};
    for (const Index size : tensor.shape()) input.shape->push_back({size, ""});
    model.graph.inputs.push_back(std::move(input));
  }
}

}  // namespace touchstone::transform
