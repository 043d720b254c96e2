// Plans the replacement of one node as a whole; the converter then inserts it.
#include "transform/convert/node_rewriter.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/error.h"
#include "model/scopes.h"

namespace touchstone::transform {

namespace {

void take_names(const std::vector<Node>& nodes, std::set<std::string>& taken);

void take_names(const Graph& graph, std::set<std::string>& taken) {
  for (const ValueInfo& input : graph.inputs) taken.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) taken.insert(name);
  for (const auto& [name, tensor] : graph.sparse_initializers) taken.insert(name);
  take_names(graph.nodes, taken);
}

void take_names(const std::vector<Node>& nodes, std::set<std::string>& taken) {
  for (const Node& node : nodes) {
    taken.insert(node.outputs.begin(), node.outputs.end());
    for (const Subgraph& inner : subgraphs_of(node)) take_names(*inner.graph, taken);
  }
}

}  // namespace

Fresh::Fresh(const Model& model) {
  take_names(model.graph, taken_);
  for (const std::shared_ptr<Function>& function : model.functions) {
    taken_.insert(function->inputs.begin(), function->inputs.end());
    take_names(function->nodes, taken_);
  }
}

std::string Fresh::name(const std::string& stem) {
  std::string name = stem;
  for (Index k = 2; !taken_.insert(name).second; ++k) name = stem + "_" + std::to_string(k);
  return name;
}

const Signature* Imports::find(std::string_view domain, std::string_view op) const {
  const auto import = opsets.find(std::string(domain));
  return import == opsets.end() ? nullptr : find_signature(domain, op, import->second);
}

const Tensor* NodeRewriter::constant(const std::string& value) const {
  return found.scope().constant(value);
}

NodeRewriter::Arg NodeRewriter::folded() const {
  const Tensor* constant = found.scope().constant(found.node().outputs[0]);
  if (constant == nullptr) throw NotKnown{};
  return {*constant};
}

NodeRewriter::Attributes NodeRewriter::carried(std::string_view domain, std::string_view op,
                                               const std::set<std::string>& left_out) const {
  const Signature* to = imports_.find(domain, op);
  if (to == nullptr) throw NotKnown{};
  Attributes all;
  for (const auto& [name, attribute] : found.node().attributes) {
    const AttributeSpec* here = attribute_of(*found.node().signature, name);
    const AttributeSpec* there = attribute_of(*to, name);
    if (there != nullptr && (here == nullptr || here->kind == there->kind))
      all.emplace(name, attribute);
  }
  for (const AttributeSpec& spec : found.node().signature->attributes) {
    const AttributeSpec* there = attribute_of(*to, spec.name);
    if (there == nullptr || there->kind != spec.kind || there->default_json == spec.default_json)
      continue;
    if (const std::optional<Attribute> value = default_of(spec)) all.emplace(spec.name, *value);
  }
  for (const std::string& name : left_out) all.erase(name);
  return all;
}

Node& NodeRewriter::add(std::string_view domain, std::string_view op,
                        const std::vector<Arg>& inputs, Attributes attributes) {
  Node node;
  node.domain = domain;
  node.op = op;
  node.signature = imports_.find(domain, op);
  if (node.signature == nullptr) throw NotKnown{};  // the target model does not import its domain
  node.name = found.node().name;
  node.metadata = found.node().metadata;
  node.attributes = std::move(attributes);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (const Tensor* tensor = std::get_if<Tensor>(&inputs[k].is)) {
      const std::span<const ParameterSpec> all = node.signature->inputs;
      const std::string stem =
          all.empty() ? "value" : std::string(all[std::min(k, all.size() - 1)].name);
      const std::string name = fresh_.name(found.node().outputs[0] + "/" + stem);
      made_.constants.emplace_back(name, *tensor);
      node.inputs.push_back(name);
      continue;
    }
    const auto& names = std::get<std::vector<std::string>>(inputs[k].is);
    node.inputs.insert(node.inputs.end(), names.begin(), names.end());
    if (names.empty()) node.inputs.emplace_back();  // omitted
  }
  while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
  made_.nodes.push_back(std::move(node));
  return made_.nodes.back();
}

NodeRewriter::Arg NodeRewriter::node(std::string_view local, std::string_view domain,
                                     std::string_view op, const std::vector<Arg>& inputs,
                                     Attributes attributes) {
  Node& made = add(domain, op, inputs, std::move(attributes));
  if (!made.name.empty()) made.name += "/" + std::string(local);
  made.outputs = {fresh_.name(found.node().outputs[0] + "/" + std::string(local))};
  return {made.outputs};
}

void NodeRewriter::result(const std::vector<Arg>& outputs, std::string_view domain,
                          std::string_view op, const std::vector<Arg>& inputs,
                          Attributes attributes) {
  Node& made = add(domain, op, inputs, std::move(attributes));
  for (const Arg& output : outputs) {
    const auto& names = std::get<std::vector<std::string>>(output.is);
    made.outputs.insert(made.outputs.end(), names.begin(), names.end());
    if (names.empty()) made.outputs.emplace_back();
  }
  std::size_t named = made.outputs.size();
  while (named > 0 && made.outputs[named - 1].empty()) --named;
  if (named <= 1 || !made.signature->all_outputs) made.outputs.resize(named);
}

NodeRewriter::Arg NodeRewriter::local(std::string_view name) {
  return named(fresh_.name(found.node().outputs[0] + "/" + std::string(name)));
}

void NodeRewriter::result(Slot output, Arg value) {
  const std::string& name = found.names(output)[0];
  if (const Tensor* tensor = std::get_if<Tensor>(&value.is)) {
    made_.constants.emplace_back(name, *tensor);
    return;
  }
  // Renames the output of the node in the replacement that computes the value.
  const std::string& from = std::get<std::vector<std::string>>(value.is)[0];
  for (Node& node : made_.nodes) {
    std::replace(node.outputs.begin(), node.outputs.end(), from, name);
    std::replace(node.inputs.begin(), node.inputs.end(), from, name);
  }
}

Made NodeRewriter::finish() {
  // Drops nodes whose only outputs are ones that the replaced node omits.
  std::erase_if(made_.nodes, [](const Node& node) { return node.outputs.empty(); });
  std::set<std::string> makes;
  for (const Node& node : made_.nodes) makes.insert(node.outputs.begin(), node.outputs.end());
  for (const auto& [name, tensor] : made_.constants) makes.insert(name);
  for (const std::string& output : found.node().outputs) {
    if (found.scope().is_used(output) && !makes.contains(output)) throw NotKnown{};
  }
  return std::move(made_);
}

const AttributeSpec* attribute_of(const Signature& signature, std::string_view name) {
  for (const AttributeSpec& spec : signature.attributes) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::optional<Attribute> default_of(const AttributeSpec& spec) {
  if (spec.default_json.empty()) return std::nullopt;
  const nlohmann::json value = nlohmann::json::parse(spec.default_json);
  if (spec.kind == "int") return Attribute{value.get<Index>(), ""};
  if (spec.kind == "float") return Attribute{value.get<float>(), ""};
  if (spec.kind == "string") return Attribute{value.get<std::string>(), ""};
  if (spec.kind == "ints") return Attribute{value.get<std::vector<Index>>(), ""};
  if (spec.kind == "floats") return Attribute{value.get<std::vector<float>>(), ""};
  if (spec.kind == "strings") return Attribute{value.get<std::vector<std::string>>(), ""};
  return std::nullopt;
}

bool is_default(const AttributeSpec& spec, const Attribute& attribute) {
  const std::optional<Attribute> value = default_of(spec);
  if (!value || !attribute.reference.empty() || value->is.index() != attribute.is.index())
    return false;
  return std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Index> || std::is_same_v<T, float> ||
                      std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<Index>> ||
                      std::is_same_v<T, std::vector<float>> ||
                      std::is_same_v<T, std::vector<std::string>>) {
          return held == std::get<T>(attribute.is);
        } else {
          return false;
        }
      },
      value->is);
}

}  // namespace touchstone::transform
