// Checks arity and attributes of one node.
#include "model/check_node.h"

#include <algorithm>
#include <limits>

#include "core/nearest.h"
#include "model/custom.h"
#include "model/place.h"
#include "model/rules.h"

namespace touchstone {
namespace {

// Names of the attribute kinds in signatures, in the order of the alternatives of
// Attribute::Payload.
constexpr std::string_view kinds[] = {
    "float",  "int",  "string",  "tensor",  "graph",  "sparse_tensor",  "type",
    "floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "types"};
static_assert(std::size(kinds) == std::variant_size_v<Attribute::Payload>);

struct Arity {
  std::size_t least, most;
};

Arity arity_of(std::span<const ParameterSpec> parameters) {
  Arity arity{0, parameters.size()};
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const ParameterSpec& parameter = parameters[k];
    if (parameter.variadic) arity.most = std::numeric_limits<std::size_t>::max();
    if (parameter.variadic && parameter.least > 0)
      arity.least = k + static_cast<std::size_t>(parameter.least);
    if (!parameter.variadic && !parameter.optional) arity.least = k + 1;
  }
  return arity;
}

std::string version_of(const Signature& signature) {
  return operator_name(signature.domain, signature.op) + "-" + std::to_string(signature.since);
}

struct Side {
  std::string_view count_rule, missing_rule;
  const char* what;  // "input"
};
constexpr Side input_side{"model/input-count", "model/input-missing", "input"};
constexpr Side output_side{"model/output-count", "model/output-missing", "output"};

// Returns the admitted numbers of arguments in words: "1 to 3".
std::string words(const Arity& arity, bool has_gap) {
  const std::string least = std::to_string(arity.least), most = std::to_string(arity.most);
  if (arity.most == std::numeric_limits<std::size_t>::max()) return least + " or more";
  if (arity.most == arity.least) return least;
  return least + (has_gap ? " or " : " to ") + most;
}

std::string counted(std::size_t number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

void check_arguments(const Signature& signature, std::span<const ParameterSpec> parameters,
                     const std::vector<std::string>& names, const Side& side,
                     const Report& report) {
  const Arity arity = arity_of(parameters);
  const bool has_gap = signature.all_outputs && side.what == output_side.what;
  const bool is_between = names.size() > arity.least && names.size() < arity.most;
  if (names.size() < arity.least || names.size() > arity.most || (has_gap && is_between)) {
    report(breach(side.count_rule, "there are " + counted(names.size(), side.what) + ", but " +
                                       version_of(signature) + " takes " + words(arity, has_gap)));
    return;
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    const ParameterSpec* parameter = parameter_at(parameters, k);
    if (!names[k].empty() || parameter->optional) continue;
    report(breach(side.missing_rule, std::string(side.what) + " " + std::to_string(k) + " ('" +
                                         std::string(parameter->name) + "') of " +
                                         version_of(signature) + " is left out"));
  }
}

void check_reference(const std::string& name, const Attribute& attribute,
                     const DeclaredAttributes* around, const Report& report) {
  if (attribute.reference.empty()) return;
  const std::string says = "attribute '" + name + "' refers to '" + attribute.reference + "'";
  if (around == nullptr) {
    report(breach("model/attribute-reference", says + ", but stands in no function"));
  } else if (!around->contains(attribute.reference)) {
    report(breach("model/attribute-reference", says + ", which the function does not declare"));
  }
}

void check_against_signature(const Node& node, const Signature& signature, const Report& report) {
  const std::string version = version_of(signature);
  if (signature.deprecated) report(breach("model/deprecated", version + " is deprecated"));
  check_arguments(signature, signature.inputs, node.inputs, input_side, report);
  check_arguments(signature, signature.outputs, node.outputs, output_side, report);
  if (custom_operator(signature) != nullptr) return;  // its function reads any attributes
  for (const auto& [name, attribute] : node.attributes) {
    const auto spec = std::find_if(
        signature.attributes.begin(), signature.attributes.end(),
        [&, &given = name](const AttributeSpec& known) { return known.name == given; });
    if (spec == signature.attributes.end()) {
      std::vector<std::string_view> known;
      for (const AttributeSpec& each : signature.attributes) known.push_back(each.name);
      Error error = breach("model/attribute-unknown", version + " has no attribute '" + name + "'");
      error.help = did_you_mean(name, known) + error.help;
      report(std::move(error));
    } else if (kinds[attribute.is.index()] != spec->kind) {
      report(breach("model/attribute-kind",
                    "attribute '" + name + "' holds " + std::string(kinds[attribute.is.index()]) +
                        ", but " + version + " wants " + std::string(spec->kind)));
    }
  }
  for (const AttributeSpec& spec : signature.attributes) {
    if (!spec.required || node.attributes.count(std::string(spec.name)) > 0) continue;
    report(breach("model/attribute-missing",
                  version + " needs attribute '" + std::string(spec.name) + "'"));
  }
}

void check_against_function(const Node& node, const Function& function, const Report& report) {
  const std::string name = "function " + operator_name(function.domain, function.name);
  if (node.inputs.size() > function.inputs.size()) {
    report(breach("model/input-count", "there are " + counted(node.inputs.size(), "input") +
                                           ", but " + name + " takes " +
                                           std::to_string(function.inputs.size())));
  }
  if (node.outputs.size() > function.outputs.size()) {
    report(breach("model/output-count", "there are " + counted(node.outputs.size(), "output") +
                                            ", but " + name + " has " +
                                            std::to_string(function.outputs.size())));
  }
  const std::unordered_set<std::string_view> required(function.attributes.begin(),
                                                      function.attributes.end());
  for (const auto& [attribute, held] : node.attributes) {
    const auto standard = function.default_attributes.find(attribute);
    if (standard == function.default_attributes.end()) {
      if (required.contains(attribute)) continue;
      report(breach("model/attribute-unknown", name + " has no attribute '" + attribute + "'"));
    } else if (standard->second.is.index() != held.is.index()) {
      report(breach("model/attribute-kind", "attribute '" + attribute + "' holds " +
                                                std::string(kinds[held.is.index()]) + ", but " +
                                                name + " wants " +
                                                std::string(kinds[standard->second.is.index()])));
    }
  }
  for (const std::string& attribute : function.attributes) {
    if (node.attributes.contains(attribute)) continue;
    report(breach("model/attribute-missing", name + " needs attribute '" + attribute + "'"));
  }
}

}  // namespace

DeclaredAttributes::DeclaredAttributes(const Function& function)
    : names_(function.attributes.begin(), function.attributes.end()) {
  for (const auto& [name, standard] : function.default_attributes) names_.insert(name);
}

const ParameterSpec* parameter_at(std::span<const ParameterSpec> parameters, std::size_t k) {
  if (k < parameters.size()) return &parameters[k];
  return !parameters.empty() && parameters.back().variadic ? &parameters.back() : nullptr;
}

void check_node(const Node& node, const DeclaredAttributes* around, const Report& report) {
  for (const auto& [name, attribute] : node.attributes)
    check_reference(name, attribute, around, report);
  if (node.function) return check_against_function(node, *node.function, report);
  if (node.signature) return check_against_signature(node, *node.signature, report);
  report(Error(ErrorKind::usage, "the model is not resolved"));
}

}  // namespace touchstone
