// Inlines calls of functions down to nodes with a signature. Recursion is as deep as calls nest,
// which the checker bounds; the generated nodes are counted.
#include "model/derive_body.h"

#include <set>
#include <span>

#include "core/limits.h"
#include "model/derive.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"

namespace touchstone {
namespace {

using Renamed = std::map<std::string, std::string>;

// Prefixes of unique names are cut: a long one, repeated in many names, would take more memory than
// its file.
constexpr std::size_t longest_stem = 64;

// Estimate for a node with two inputs, one output and their names.
constexpr Index bytes_a_node = 600;

void bind(Node& node, const std::map<std::string, Attribute>& given) {
  for (auto at = node.attributes.begin(); at != node.attributes.end();) {
    const std::string& reference = at->second.reference;
    const auto found = reference.empty() ? given.end() : given.find(reference);
    if (!reference.empty() && found == given.end()) {
      at = node.attributes.erase(at);
    } else {
      if (!reference.empty()) at->second = found->second;
      ++at;
    }
  }
}

}  // namespace

std::shared_ptr<const Function> written(const std::string& name) {
  static const std::map<std::string, std::shared_ptr<const Function>> functions = [] {
    Model model = parse_model(std::as_bytes(std::span(derivative_bytes())), {}, Limits::trusted());
    resolve(model);
    std::map<std::string, std::shared_ptr<const Function>> found;
    for (const auto& function : model.functions) found.emplace(function->name, function);
    return found;
  }();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

void MadeNodes::count(const Node& node) {
  watch_.step();
  const Index weight = weight_of(node);
  charge_.resize(charge_.bytes() + weight * bytes_a_node);
  made_ += weight;
  if (made_ > most_) throw over_limit("nodes", made_, most_);
}

void MadeNodes::count(const Function& function) {
  made_ += (std::ssize(function.inputs) + std::ssize(function.outputs) +
            std::ssize(function.default_attributes)) /
           entries_of_a_node;
}

void DerivativeBody::add(const Node& node, const Renamed& names, const Attributes* given) {
  const auto renamed = [&](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  Node copy = node;
  for (std::string& name : copy.inputs) name = renamed(name);
  for (std::string& name : copy.outputs) name = renamed(name);
  if (given != nullptr) bind(copy, *given);
  made_.count(copy);
  if (copy.function) return add_inside(copy);
  if (given != nullptr && !subgraphs_of(copy).empty())
    throw Error(ErrorKind::unsupported,
                "unsupported: a derivative through a function that holds graphs")
        .with_place(place_of(node, ""));
  copy.index = static_cast<Index>(nodes.size());
  nodes.push_back(std::move(copy));
}

void DerivativeBody::add_inside(const Node& caller) {
  const Function& function = *caller.function;
  made_.count(function);
  Attributes given = caller.attributes;
  for (const auto& [name, standard] : function.default_attributes) given.emplace(name, standard);
  Renamed names;
  const std::string around = fresh(function.name) + "/";
  for (const Node& node : function.nodes) {
    for (const std::string& name : node.outputs) {
      if (!name.empty()) names[name] = around + name;
    }
  }
  for (std::size_t k = 0; k < function.outputs.size() && k < caller.outputs.size(); ++k) {
    if (!caller.outputs[k].empty()) names[function.outputs[k]] = caller.outputs[k];
  }
  const std::set<std::string> made(function.outputs.begin(), function.outputs.end());
  for (const std::string& input : function.inputs) {
    if (made.contains(input))
      throw Error(ErrorKind::unsupported,
                  "unsupported: a derivative through a function that hands on an input");
  }
  for (std::size_t k = 0; k < function.inputs.size(); ++k) {
    names[function.inputs[k]] = k < caller.inputs.size() ? caller.inputs[k] : "";
  }
  for (const Node& node : function.nodes) add(node, names, &given);
}

std::string DerivativeBody::call(const char* function, std::vector<std::string> inputs) {
  const std::string made = fresh(function);
  call(written(function), std::move(inputs), {made});
  return made;
}

Node& DerivativeBody::call(std::shared_ptr<const Function> function,
                           std::vector<std::string> inputs, std::vector<std::string> outputs) {
  Node node;
  node.domain = function->domain;
  node.op = function->name;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.index = static_cast<Index>(nodes.size());
  node.function = std::move(function);
  made_.count(node);
  nodes.push_back(std::move(node));
  return nodes.back();
}

void DerivativeBody::open_last() {
  const Node node = std::move(nodes.back());
  nodes.pop_back();
  add(node);
}

void DerivativeBody::open_all() {
  const std::vector<Node> calls = std::move(nodes);
  nodes.clear();
  for (const Node& node : calls) add(node);
}

std::string DerivativeBody::fresh(const std::string& of) {
  return of.substr(0, longest_stem) + "~" + std::to_string(++named_);
}

}  // namespace touchstone
