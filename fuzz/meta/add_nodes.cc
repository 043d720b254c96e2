// Copies in the way of values, nodes that no output needs, and more outputs.
#include <algorithm>

#include "conformance/assess_nodes.h"
#include "conformance/compare/rewrite.h"
#include "core/error.h"
#include "fuzz/meta/new_names.h"
#include "fuzz/meta/reference_runs.h"
#include "fuzz/meta/rewrites.h"
#include "fuzz/op/program.h"
#include "fuzz/runner.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

[[noreturn]] void nothing_to_change(const std::string& why) {
  throw Error(ErrorKind::unsupported, why);
}

// Makes nodes that copy a value, where the model's opset has a version that takes its type.
class Copier {
 public:
  explicit Copier(const Model& model) : types_(compare::types_of_values(model)) {
    const auto opset = model.opsets.find("");
    if (opset == model.opsets.end()) return;
    for (const BodyOperator& one : body_operators()) {
      if (one.role == "copy") signature_ = find_signature("", one.op, opset->second);
    }
    for (const ValueInfo& input : model.graph.inputs) {
      if (input.type) types_[input.name] = *input.type;
    }
    for (const auto& [name, tensor] : model.graph.initializers)
      types_[name] = tensor_type(tensor.type());
  }

  bool takes(const std::string& value) const {
    const auto type = types_.find(value);
    if (!signature_ || type == types_.end()) return false;
    const std::span<const std::string_view> taken = signature_->types.front().types;
    return std::find(taken.begin(), taken.end(), text(type->second)) != taken.end();
  }

  Node copy(const std::string& from, const std::string& to) const {
    Node node;
    node.op = signature_->op;
    node.inputs = {from};
    node.outputs = {to};
    return node;
  }

 private:
  std::map<std::string, ValueType> types_;
  const Signature* signature_ = nullptr;
};

std::vector<std::string> given_values(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueInfo& input : graph.inputs) names.push_back(input.name);
  for (const auto& [name, tensor] : graph.initializers) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void copy_inputs(Graph& graph, const Copier& copier, NewNames& names) {
  std::map<std::string, std::string> copies;
  std::vector<Node> nodes;
  for (const std::string& name : given_values(graph)) {
    const bool is_read = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& one) {
      return std::find(one.inputs.begin(), one.inputs.end(), name) != one.inputs.end();
    });
    if (!is_read || !copier.takes(name)) continue;
    copies[name] = names.make(name + "_copy");
    nodes.push_back(copier.copy(name, copies[name]));
  }
  for (Node& node : graph.nodes) {
    for (std::string& input : node.inputs) {
      if (const auto copy = copies.find(input); copy != copies.end()) input = copy->second;
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

void copy_values(Graph& graph, const Copier& copier, NewNames& names) {
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    std::vector<Node> copies;
    for (std::string& output : node.outputs) {
      if (output.empty() || !copier.takes(output)) continue;
      const std::string made = names.make(output + "_before");
      copies.push_back(copier.copy(made, output));
      output = made;
    }
    nodes.push_back(std::move(node));
    for (Node& copy : copies) nodes.push_back(std::move(copy));
  }
  graph.nodes = std::move(nodes);
}

void add_readers(Graph& graph, const Copier& copier, NewNames& names) {
  std::vector<std::string> read = given_values(graph);
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs)
      if (!output.empty()) read.push_back(output);
  }
  for (const std::string& name : read) {
    if (copier.takes(name)) graph.nodes.push_back(copier.copy(name, names.make(name + "_dead")));
  }
}

// Puts a copy behind each node; the copies read the values that the nodes read.
void add_copies(Graph& graph, NewNames& names) {
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    Node copy = node;
    for (std::string& output : copy.outputs) {
      if (!output.empty()) output = names.make(output + "_dead");
    }
    if (!copy.name.empty()) copy.name += "_dead";
    nodes.push_back(std::move(node));
    nodes.push_back(std::move(copy));
  }
  graph.nodes = std::move(nodes);
}

// True if the reference gives the outputs of the case for `tried`, too.
bool runs_alike(const Case& one, const std::vector<Feeds>& expected, const Case& tried) {
  try {
    const std::vector<Feeds> made = reference_runs(tried);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!first_other_output(one, expected[k], made[k], judge::ZeroSign::compared).empty())
        return false;
    }
    return true;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
    return false;
  }
}

// Names the omitted outputs of each node, one node at a time, where that changes no other output:
// some exist by the value of an attribute alone, or select another mode by being named.
void name_omitted(Case& one) {
  const std::vector<Feeds> expected = reference_runs(one);
  NewNames names(one.model.graph);
  bool changed = false;
  for (std::size_t k = 0; k < one.model.graph.nodes.size(); ++k) {
    const Signature* signature = one.model.graph.nodes[k].signature;
    if (!signature) continue;
    Case tried = one;
    std::vector<std::string>& outputs = tried.model.graph.nodes[k].outputs;
    const bool is_open = std::any_of(signature->outputs.begin(), signature->outputs.end(),
                                     [](const ParameterSpec& each) { return each.variadic; });
    if (!is_open) outputs.resize(std::max(outputs.size(), signature->outputs.size()));
    if (std::find(outputs.begin(), outputs.end(), "") == outputs.end()) continue;
    for (std::string& output : outputs) {
      if (output.empty()) output = names.make("omitted");
    }
    if (!runs_alike(one, expected, tried)) continue;
    one = std::move(tried);
    changed = true;
  }
  if (!changed) nothing_to_change("no node omits an output that it may have");
}

}  // namespace

void require_accepted(const Model& model) {
  Model resolved = model;
  try {
    require_valid(resolved, limits_of_case());
  } catch (const Error& error) {
    if (error.kind == ErrorKind::limit || error.kind == ErrorKind::internal) throw;
    throw Error(ErrorKind::unsupported, "the checker refuses it then: " + error.message);
  }
}

void insert_identities(Variant& variant, const std::string& where) {
  Graph& graph = variant.is.model.graph;
  const Copier copier(variant.is.model);
  NewNames names(graph);
  const std::size_t before = graph.nodes.size();
  (where == "inputs" ? copy_inputs : copy_values)(graph, copier, names);
  if (graph.nodes.size() == before) nothing_to_change("no value can be copied");
  graph.values.clear();
  require_accepted(variant.is.model);
  variant.same_bits = SameBits::on_our_own;
}

void add_dead_nodes(Variant& variant, const std::string& which) {
  Graph& graph = variant.is.model.graph;
  NewNames names(graph);
  const std::size_t before = graph.nodes.size();
  if (which == "readers") {
    add_readers(graph, Copier(variant.is.model), names);
  } else {
    add_copies(graph, names);
  }
  if (graph.nodes.size() == before) nothing_to_change("no value can be copied");
  require_accepted(variant.is.model);
  variant.same_bits = SameBits::on_our_own;
}

void add_outputs(Variant& variant, const std::string& which) {
  Model& model = variant.is.model;
  if (which == "omitted") return name_omitted(variant.is);
  const std::vector<std::string> hidden = compare::hidden_values(model);
  if (hidden.empty()) nothing_to_change("no value is hidden");
  model = compare::with_taps(model, hidden, compare::types_of_values(model));
}

}  // namespace touchstone::fuzz
