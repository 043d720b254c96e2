// Propagates value types through a node's type constraints. A type that follows from an attribute
// or a subgraph stays open.
#include <algorithm>
#include <map>

#include "model/check_node.h"
#include "model/rules.h"

namespace touchstone {
namespace {

const ConstraintSpec* constraint(const Signature& signature, std::string_view name) {
  const auto found = std::find_if(signature.types.begin(), signature.types.end(),
                                  [&](const ConstraintSpec& known) { return known.name == name; });
  return found == signature.types.end() ? nullptr : &*found;
}

std::string list_of(std::span<const std::string_view> types) {
  std::string list;
  for (const std::string_view type : types) list += (list.empty() ? "" : ", ") + std::string(type);
  return list;
}

std::span<const std::string_view> types_admitted(const Signature& signature,
                                                 const ParameterSpec& parameter) {
  const ConstraintSpec* types = constraint(signature, parameter.type);
  return types ? types->types : std::span(&parameter.type, 1);
}

std::string parameter_text(std::size_t k, const ParameterSpec& parameter) {
  return "input " + std::to_string(k) + " ('" + std::string(parameter.name) + "')";
}

}  // namespace

Types bind_types(const Node& node, std::span<const std::optional<ValueType>> inputs,
                 const Report& report) {
  Types outputs(node.outputs.size());
  if (node.signature == nullptr) return outputs;
  const Signature& signature = *node.signature;
  struct Bound {
    ValueType type;
    std::size_t by;
  };
  std::map<std::string_view, Bound> bound;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const ParameterSpec* parameter = parameter_at(signature.inputs, k);
    if (parameter == nullptr || !inputs[k]) continue;
    const std::string given = text(*inputs[k]);
    const ConstraintSpec* types = constraint(signature, parameter->type);
    const std::span<const std::string_view> admitted = types_admitted(signature, *parameter);
    if (std::find(admitted.begin(), admitted.end(), given) == admitted.end()) {
      report(breach("model/type", parameter_text(k, *parameter) + " is " + given + ", but may be " +
                                      list_of(admitted)));
      continue;
    }
    if (types == nullptr || (parameter->variadic && !parameter->homogeneous)) continue;
    const auto [at, fresh] = bound.emplace(parameter->type, Bound{*inputs[k], k});
    if (fresh || at->second.type == *inputs[k]) continue;
    report(breach(
        "model/type",
        parameter_text(k, *parameter) + " is " + given + ", but " +
            parameter_text(at->second.by, *parameter_at(signature.inputs, at->second.by)) +
            " of the same type " + std::string(parameter->type) + " is " + text(at->second.type)));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ParameterSpec* parameter = parameter_at(signature.outputs, k);
    if (parameter == nullptr) continue;
    const ConstraintSpec* types = constraint(signature, parameter->type);
    if (types == nullptr) {
      outputs[k] = parse_value_type(parameter->type);
    } else if (const auto found = bound.find(parameter->type);
               found != bound.end() && !(parameter->variadic && !parameter->homogeneous)) {
      outputs[k] = found->second.type;
    } else if (types->types.size() == 1) {
      outputs[k] = parse_value_type(types->types.front());
    }
  }
  return outputs;
}

void hold_output_types(const Signature& signature, const Types& outputs, const Report& report) {
  // A literal tensor attribute may be of any type: released suites hold such constants (Q051).
  const bool literal = signature.inputs.empty() &&
                       std::any_of(signature.attributes.begin(), signature.attributes.end(),
                                   [](const AttributeSpec& a) { return a.kind == "tensor"; });
  if (literal) return;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ParameterSpec* parameter = parameter_at(signature.outputs, k);
    if (parameter == nullptr || !outputs[k]) continue;
    const std::span<const std::string_view> admitted = types_admitted(signature, *parameter);
    const std::string made = text(*outputs[k]);
    if (std::find(admitted.begin(), admitted.end(), made) != admitted.end()) continue;
    report(breach("model/type", "output " + std::to_string(k) + " ('" +
                                    std::string(parameter->name) + "') is " + made +
                                    ", but may be " + list_of(admitted)));
  }
}

}  // namespace touchstone
