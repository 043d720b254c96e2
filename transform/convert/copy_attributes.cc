// Carries a node over to another version of its operator unchanged, or reports what that version
// lacks, in the terms of the two signatures.
#include "transform/convert/copy_attributes.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "model/check_node.h"
#include "transform/convert/node_rewriter.h"
#include "transform/convert/step.h"

namespace touchstone::transform {

namespace {

std::string called(const Signature& signature) {
  return std::string(signature.op) + "-" + std::to_string(signature.since);
}

// Returns all value types that a parameter admits.
std::vector<std::string_view> admitted(const Signature& signature, const ParameterSpec& parameter) {
  for (const ConstraintSpec& constraint : signature.types) {
    if (constraint.name == parameter.type)
      return {constraint.types.begin(), constraint.types.end()};
  }
  return {parameter.type};
}

bool contains(const std::vector<std::string_view>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Checks the type of one value of the node. Returns "" if the other version admits it, else a
// message.
std::string type_missed(const NodeMatch& found, const std::string& value, const ParameterSpec& from,
                        const Signature& to, const ParameterSpec& there) {
  const std::vector<std::string_view> before = admitted(*found.node().signature, from);
  const std::vector<std::string_view> after = admitted(to, there);
  const bool all = std::all_of(before.begin(), before.end(),
                               [&](std::string_view type) { return contains(after, type); });
  if (all || value.empty()) return "";
  const std::optional<ValueType> type = found.value_type(value);
  if (!type)
    return "the type of " + std::string(from.name) + " '" + value + "' is not known, and " +
           called(to) + " does not take every type";
  if (contains(after, text(*type))) return "";
  return called(to) + " takes no " + text(*type) + " as " + std::string(there.name);
}

std::string types_missed(const NodeMatch& found, std::span<const ParameterSpec> from,
                         std::span<const ParameterSpec> there, const Signature& to,
                         int first_slot) {
  for (std::size_t k = 0; k < from.size(); ++k) {
    const auto same = std::find_if(there.begin(), there.end(),
                                   [&](const ParameterSpec& p) { return p.name == from[k].name; });
    const ParameterSpec* other = same != there.end() ? &*same
                                 : k < there.size()  ? &there[k]
                                                     : nullptr;
    if (other == nullptr) continue;
    for (const std::string& value : found.names({first_slot + static_cast<int>(k)})) {
      if (const std::string missed = type_missed(found, value, from[k], to, *other);
          !missed.empty())
        return missed;
    }
  }
  return "";
}

// Constraint of an argument, or "" if the parameter names a type itself.
std::string_view constraint_of(const Signature& signature,
                               std::span<const ParameterSpec> parameters, std::size_t k) {
  const ParameterSpec* parameter = parameter_at(parameters, k);
  if (parameter == nullptr) return "";
  const bool is_name =
      std::any_of(signature.types.begin(), signature.types.end(),
                  [&](const auto& types) { return types.name == parameter->type; });
  return is_name ? parameter->type : "";
}

// True if two arguments of the node have one constraint in the other version, and two in its own.
bool binds_more(const Node& node, const Signature& to) {
  std::vector<std::array<std::string_view, 2>> all;  // before and after, by argument
  for (std::size_t k = 0; k < node.inputs.size(); ++k)
    all.push_back({constraint_of(*node.signature, node.signature->inputs, k),
                   constraint_of(to, to.inputs, k)});
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    all.push_back({constraint_of(*node.signature, node.signature->outputs, k),
                   constraint_of(to, to.outputs, k)});
  return std::any_of(all.begin(), all.end(), [&](const auto& a) {
    return std::any_of(all.begin(), all.end(), [&](const auto& b) {
      return !a[1].empty() && a[1] == b[1] && a[0] != b[0];
    });
  });
}

// Binds the constraints of the other version to the known types. Returns "" or a message.
std::string bindings_missed(const NodeMatch& found, const Signature& to) {
  Node there = found.node();
  if (!binds_more(there, to)) return "";
  there.signature = &to;
  Types inputs;
  for (const std::string& name : there.inputs)
    inputs.push_back(name.empty() ? std::nullopt : found.value_type(name));
  std::string missed;
  const Types outputs = bind_types(there, inputs, [&](const Error& error) {
    if (missed.empty()) missed = called(to) + " binds types: " + error.message;
  });
  for (std::size_t k = 0; k < outputs.size() && missed.empty(); ++k) {
    const std::optional<ValueType> type =
        there.outputs[k].empty() ? std::nullopt : found.value_type(there.outputs[k]);
    if (type && outputs[k] && *type != *outputs[k])
      missed = called(to) + " makes " + text(*outputs[k]) + " of '" + there.outputs[k] + "', not " +
               text(*type);
  }
  return missed;
}

bool is_idle(const Signature& from, const Signature& to, std::string_view attribute) {
  const std::span<const Idle> all = all_idle();
  return std::any_of(all.begin(), all.end(), [&](const Idle& idle) {
    return idle.domain == from.domain && idle.op == from.op && idle.from == from.since &&
           idle.to == to.since && idle.attribute == attribute;
  });
}

// Drops attributes that the target version lacks. Allowed only if they equal the default or are
// unused (Idle). Returns "" or a message.
std::string drop_attributes(const NodeMatch& found, const Signature& to, Node& node) {
  const Signature& from = *found.node().signature;
  for (const auto& [name, attribute] : found.node().attributes) {
    const AttributeSpec* here = attribute_of(from, name);
    const AttributeSpec* there = attribute_of(to, name);
    if (there != nullptr && here != nullptr && there->kind == here->kind) continue;
    const bool says_nothing =
        (here != nullptr && is_default(*here, attribute)) || is_idle(from, to, name);
    if (!says_nothing) return called(to) + " has no such attribute " + name;
    node.attributes.erase(name);
  }
  return "";
}

// Writes out the default of attributes that the node omits, if the target version has another
// default. Returns "" or a message.
std::string add_attributes(const NodeMatch& found, const Signature& to, Node& node) {
  for (const AttributeSpec& there : to.attributes) {
    if (node.attributes.contains(std::string(there.name))) continue;
    const AttributeSpec* here = attribute_of(*found.node().signature, there.name);
    const std::string_view meant = here != nullptr ? here->default_json : "";
    if (meant == there.default_json && !there.required) continue;
    // New in the target version and optional: stays omitted.
    if (here == nullptr && !there.required) continue;
    std::optional<Attribute> value;
    if (here != nullptr) value = default_of(*here);
    if (!value) return called(to) + " needs the attribute " + std::string(there.name);
    node.attributes.emplace(there.name, *value);
  }
  return "";
}

std::string counts_missed(const std::vector<std::string>& given,
                          std::span<const ParameterSpec> there, const Signature& to,
                          const char* what) {
  const bool open = !there.empty() && there.back().variadic;
  if (given.size() > there.size() && !open)
    return called(to) + " has no " + what + " " + std::to_string(there.size()) + " ('" +
           given[there.size()] + "')";
  for (std::size_t k = 0; k < there.size(); ++k) {
    const bool left_out = k >= given.size() || given[k].empty();
    if (left_out && !there[k].optional && !there[k].variadic)
      return called(to) + " needs the " + what + " " + std::string(there[k].name);
  }
  return "";
}

}  // namespace

std::string types_missed(const NodeMatch& found, const Signature& to, bool outputs_too) {
  const Signature& from = *found.node().signature;
  std::string missed = types_missed(found, from.inputs, to.inputs, to, 1);
  if (missed.empty() && outputs_too)
    missed =
        types_missed(found, from.outputs, to.outputs, to, 1 + static_cast<int>(from.inputs.size()));
  return missed;
}

std::string copy_attributes(const NodeMatch& found, const Signature& to, Node& node) {
  if (to.deprecated) return called(to) + " is deprecated";
  std::string missed = types_missed(found, to, true);
  if (missed.empty()) missed = counts_missed(found.node().inputs, to.inputs, to, "input");
  if (missed.empty()) missed = counts_missed(found.node().outputs, to.outputs, to, "output");
  if (missed.empty()) missed = bindings_missed(found, to);
  if (missed.empty()) missed = drop_attributes(found, to, node);
  if (missed.empty()) missed = add_attributes(found, to, node);
  if (missed.empty()) node.signature = &to;
  return missed;
}

}  // namespace touchstone::transform
