// Looks up types, shapes and constants for conversion. Shape inference of the model runs once, on
// the first query.
#include "transform/convert/scope.h"

#include "core/error.h"
#include "model/scopes.h"
#include "reference/interpreter.h"
#include "reference/references.h"

namespace touchstone::transform {

namespace {

constexpr int deepest = 100;  // length of a chain of constants computed from constants

std::string key(const std::string& place, const std::string& name) { return place + '\n' + name; }

}  // namespace

void Knowledge::infer() {
  if (asked_) return;
  asked_ = true;
  shapes_ = infer_shapes(model_, limits_);
  for (const InferredValue& value : shapes_.values) {
    values_.emplace(key(value.path, value.name), &value);
    if (value.node != nullptr) places_[value.node].insert(value.path);
  }
}

std::set<std::string> Knowledge::places_of(const std::vector<Node>& nodes) {
  infer();
  std::set<std::string> all;
  for (const Node& node : nodes) {
    const auto found = places_.find(&node);
    if (found != places_.end()) all.insert(found->second.begin(), found->second.end());
  }
  return all;
}

const InferredValue* Knowledge::find(const std::string& place, const std::string& name) {
  infer();
  const auto found = values_.find(key(place, name));
  return found == values_.end() ? nullptr : found->second;
}

Scope::Scope(const Graph& graph, const Scope* outer, Knowledge& knowledge)
    : outer_(outer), graph_(&graph), nodes_(&graph.nodes), knowledge_(knowledge) {
  for (const ValueInfo& input : graph.inputs) inputs_.insert(input.name);
  index(graph.nodes);
}

Scope::Scope(const Function& function, Knowledge& knowledge)
    : nodes_(&function.nodes), knowledge_(knowledge) {
  inputs_.insert(function.inputs.begin(), function.inputs.end());
  index(function.nodes);
}

void Scope::index(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) makers_.emplace(output, &node);
    }
  }
}

const std::set<std::string>& Scope::places() const {
  if (!places_)
    places_ = graph_ != nullptr && outer_ == nullptr ? std::set<std::string>{""}
                                                     : knowledge_.places_of(*nodes_);
  return *places_;
}

std::vector<const InferredValue*> Scope::known(const std::string& name) const {
  std::vector<const InferredValue*> all;
  for (const std::string& place : places()) {
    if (const InferredValue* value = knowledge_.find(place, name)) all.push_back(value);
  }
  return all.empty() && outer_ != nullptr ? outer_->known(name) : all;
}

const Tensor* Scope::constant(const std::string& name) const {
  if (name.empty() || inputs_.contains(name)) return nullptr;  // a default may be overridden
  if (graph_ != nullptr) {
    const auto found = graph_->initializers.find(name);
    if (found != graph_->initializers.end()) return &found->second;
    if (graph_->sparse_initializers.contains(name)) return nullptr;
  }
  const auto made = makers_.find(name);
  if (made != makers_.end()) return computed(*made->second, name);
  return outer_ != nullptr ? outer_->constant(name) : nullptr;
}

const Tensor* Scope::computed(const Node& node, const std::string& name) const {
  const auto known = computed_.find(name);
  if (known != computed_.end()) return known->second ? &*known->second : nullptr;
  // Stays nullopt while it is being computed, which ends cycles.
  std::optional<Tensor>& result = computed_[name];
  if (depth_ >= deepest) return nullptr;
  if (node.signature == nullptr || node.signature->kind == "random" || has_references(node) ||
      !subgraphs_of(node).empty())
    return nullptr;
  std::vector<Value> inputs;
  for (const std::string& input : node.inputs) {
    ++depth_;
    const Tensor* value = constant(input);
    --depth_;
    if (!input.empty() && value == nullptr) return nullptr;
    if (value != nullptr) {
      inputs.emplace_back(*value);
    } else {
      inputs.emplace_back();
    }
  }
  try {
    const std::vector<Value> outputs = evaluate(*node.signature, node.attributes, std::move(inputs),
                                                static_cast<Index>(node.outputs.size()));
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == name && outputs[k].is_tensor()) result = outputs[k].tensor();
    }
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw;
  }
  return result ? &*result : nullptr;
}

bool Scope::is_used(const std::string& name) const {
  if (!used_) {
    used_.emplace();
    for (const Node& node : *nodes_) {
      for (const std::string& one : names_used(node)) used_->insert(one);
    }
    if (graph_ != nullptr) {
      for (const ValueInfo& output : graph_->outputs) used_->insert(output.name);
    }
  }
  // A Scope does not know the names of a function's outputs, so all values of a function count as
  // used.
  return graph_ == nullptr || used_->contains(name);
}

}  // namespace touchstone::transform
