// Nodes as calls of functions that the model holds.
#include <algorithm>
#include <set>

#include "core/error.h"
#include "fuzz/meta/bodies.h"
#include "fuzz/meta/rewrites.h"
#include "fuzz/runner.h"
#include "model/model.h"
#include "model/scopes.h"

namespace touchstone::fuzz {
namespace {

constexpr Index ir_of_functions = 10;
constexpr const char* own_domain = "touchstone.fuzz";

// Returns the names without repetition and without omitted ones.
std::vector<std::string> distinct(const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    if (!name.empty() && std::find(kept.begin(), kept.end(), name) == kept.end())
      kept.push_back(name);
  }
  return kept;
}

// Adds a function and returns a call of it. Its attributes become the call's.
Node called(Model& model, Function function, std::vector<std::string> inputs,
            std::vector<std::string> outputs) {
  function.domain = own_domain;
  function.name = "F" + std::to_string(model.functions.size());
  function.opsets = model.opsets;
  Node call;
  call.domain = function.domain;
  call.op = function.name;
  call.inputs = std::move(inputs);
  call.outputs = std::move(outputs);
  model.functions.push_back(std::make_shared<Function>(std::move(function)));
  return call;
}

// The node's attributes are those of the function, to which the node inside refers.
Node call_for(Model& model, const Node& node) {
  Function function;
  function.inputs = distinct(node.inputs);
  function.outputs = distinct(node.outputs);
  Node inner = node;
  for (auto& [name, attribute] : inner.attributes) {
    function.attributes.push_back(name);
    attribute.reference = name;
  }
  function.nodes = {std::move(inner)};
  Node call = called(model, function, function.inputs, function.outputs);
  call.attributes = node.attributes;
  call.name = node.name;
  return call;
}

void calls_for_nodes(Model& model) {
  for (Node& node : model.graph.nodes) {
    if (!node.signature || !subgraphs_of(node).empty()) continue;
    node = call_for(model, node);
  }
}

// Inputs and initializers are the function's inputs.
void call_for_graph(Model& model) {
  Graph& graph = model.graph;
  Function function;
  std::set<std::string> given, made;
  for (const ValueInfo& input : graph.inputs) given.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) given.insert(name);
  for (const Node& node : graph.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  for (const ValueInfo& output : graph.outputs) {
    function.outputs.push_back(output.name);
    if (!made.contains(output.name))
      throw Error(ErrorKind::unsupported, "an output is an input of the graph");
  }
  if (!graph.sparse_initializers.empty())
    throw Error(ErrorKind::unsupported, "a function takes no sparse initializer");
  function.inputs.assign(given.begin(), given.end());
  function.nodes = std::move(graph.nodes);
  const std::vector<std::string> inputs = function.inputs, outputs = function.outputs;
  graph.nodes = {called(model, std::move(function), inputs, outputs)};
}

}  // namespace

void make_functions(Variant& variant, const std::string& of) {
  Model& model = variant.is.model;
  const std::size_t before = model.functions.size();
  (of == "nodes" ? calls_for_nodes : call_for_graph)(model);
  if (model.functions.size() == before)
    throw Error(ErrorKind::unsupported, "every node runs a graph of its own");
  model.graph.values.clear();
  model.opsets[own_domain] = 1;
  model.ir_version = std::max(model.ir_version, ir_of_functions);
  require_accepted(model);
}

void call_standard_bodies(Variant& variant, const std::string&) {
  Model& model = variant.is.model;
  std::set<std::string> held;
  for (Node& node : model.graph.nodes) {
    const auto opset = model.opsets.find(node.domain);
    if (!node.signature || opset == model.opsets.end()) continue;
    const std::shared_ptr<Function> body = standard_body(*node.signature, opset->second);
    if (!body) continue;
    if (held.insert(body->name).second) model.functions.push_back(body);
    node.domain = body->domain;
    node.op = body->name;
    const auto& known = body->attributes;
    std::erase_if(node.attributes, [&](const auto& one) {
      return !body->default_attributes.contains(one.first) &&
             std::find(known.begin(), known.end(), one.first) == known.end();
    });
    model.opsets[body->domain] = 1;
  }
  if (held.empty()) throw Error(ErrorKind::unsupported, "no node has a body of the standard");
  model.ir_version = std::max(model.ir_version, ir_of_functions);
  variant.exact = false;
  variant.must_agree = false;  // bodies round more often; tests/functions compares each
  require_accepted(model);
}

}  // namespace touchstone::fuzz
