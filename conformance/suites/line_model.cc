// Builds a model of one node and its feeds from a line.
#include <algorithm>
#include <optional>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "model/check_node.h"
#include "model/model.h"
#include "reference/shapes/shapes.h"

namespace touchstone::suites {
namespace {

std::string port_name(std::span<const ParameterSpec> ports, std::size_t k) {
  const ParameterSpec* port = parameter_at(ports, k);
  if (!port) return "more_" + std::to_string(k);
  return std::string(port->name) + (port->variadic ? "_" + std::to_string(k) : "");
}

// Returns the mask of the required outputs.
std::string min_outputs(const Signature& signature) {
  std::string mask;
  for (const ParameterSpec& output : signature.outputs) {
    if (output.variadic) {
      mask.append(static_cast<std::size_t>(std::max(1, output.least)), 'x');
    } else if (!output.optional) {
      mask.resize(static_cast<std::size_t>(&output - signature.outputs.data()), '_');
      mask += 'x';
    }
  }
  return mask.empty() ? "x" : mask;
}

// Returns an output's type if the signature alone determines it.
std::optional<ValueType> type_by_signature(const Line& line, std::size_t output) {
  const Signature& signature = *line.signature;
  const ParameterSpec* port = parameter_at(signature.outputs, output);
  if (!port) return std::nullopt;
  const auto same = [&](const ConstraintSpec& constraint) { return constraint.name == port->type; };
  const auto constraint = std::find_if(signature.types.begin(), signature.types.end(), same);
  if (constraint == signature.types.end()) return parse_value_type(port->type);
  for (std::size_t k = 0; k < line.inputs.size(); ++k) {
    const ParameterSpec* input = parameter_at(signature.inputs, k);
    if (input && input->type == port->type && !line.inputs[k].value.absent())
      return line.inputs[k].value.type();
  }
  if (constraint->types.size() > 1) return std::nullopt;
  return parse_value_type(constraint->types.front());
}

// Declares the output types: those of the signature for a model that violates a rule, those of the
// definition for any other.
void declare_outputs(Model& model, const Line& line) {
  const std::vector<std::string>& made = model.graph.nodes.front().outputs;
  for (ValueInfo& output : model.graph.outputs) {
    const auto at = std::find(made.begin(), made.end(), output.name);
    output.type = type_by_signature(line, static_cast<std::size_t>(at - made.begin()));
  }
  Model known = model;
  for (ValueInfo& output : known.graph.outputs) output.type.reset();
  try {
    require_valid(known, Limits::trusted());
    for (const InferredValue& value : infer_shapes(known, Limits::trusted()).values) {
      for (ValueInfo& output : model.graph.outputs) {
        if (value.path.empty() && value.name == output.name && value.type) output.type = value.type;
      }
    }
  } catch (const Error&) {
  }
}

}  // namespace

std::string output_mask(const Line& line) {
  return line.outputs.empty() ? min_outputs(*line.signature) : line.outputs;
}

Index opset_of(const Signature& signature) {
  const Index newest = newest_opset(signature.domain);
  Index opset = signature.since;
  while (opset < newest && find_signature(signature.domain, signature.op, opset + 1) == &signature)
    ++opset;
  return opset;
}

LineModel model_of(const Line& line) {
  const Signature& signature = *line.signature;
  LineModel made;
  made.model.ir_version = ir_version_of_lines;
  made.model.opsets[std::string(signature.domain)] = opset_of(signature);
  Graph& graph = made.model.graph;
  graph.name = "case";
  Node node;
  node.domain = signature.domain;
  node.op = signature.op;
  node.attributes = line.attributes;
  for (std::size_t k = 0; k < line.inputs.size(); ++k) {
    const LinePort& port = line.inputs[k];
    if (port.value.absent()) {
      node.inputs.emplace_back();
      continue;
    }
    const std::string name = port_name(signature.inputs, k);
    node.inputs.push_back(name);
    if (port.held) {
      graph.initializers[name] = port.value.tensor();
      continue;
    }
    ValueInfo input{name, port.value.type(), {}};
    if (port.value.is_tensor()) input.shape = port.dims;
    graph.inputs.push_back(std::move(input));
    made.feeds.push_back(port.value);
  }
  const std::string mask = output_mask(line);
  for (std::size_t k = 0; k < mask.size(); ++k) {
    std::string name = mask[k] == 'x' ? port_name(signature.outputs, k) : "";
    if (!name.empty() &&
        std::find(node.inputs.begin(), node.inputs.end(), name) != node.inputs.end())
      name = "out_" + name;
    node.outputs.push_back(name);
    if (!name.empty()) graph.outputs.push_back({name, {}, {}});
  }
  graph.nodes.push_back(std::move(node));
  declare_outputs(made.model, line);
  return made;
}

}  // namespace touchstone::suites
