// What one node must hold, whatever stands around it. The checker reports breaches; a run refuses
// the node.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/error.h"
#include "model/graph.h"

namespace touchstone {

using Report = std::function<void(Error)>;

// The names of the attributes that a function declares, which outlives them: one look for each
// reference in its body.
class DeclaredAttributes {
 public:
  explicit DeclaredAttributes(const Function& function);
  bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string_view> names_;
};

// Number of inputs and outputs, what is left out, attributes and their kinds. `around` is of the
// function whose body the node stands in, or null.
void check_node(const Node& node, const DeclaredAttributes* around, const Report& report);

// Binds the type constraints of a node by the types of its inputs, none where unknown or left out.
// Returns the types of its outputs as far as that says them.
using Types = std::vector<std::optional<ValueType>>;
Types bind_types(const Node& node, std::span<const std::optional<ValueType>> inputs,
                 const Report& report);

// Reports an output of a type that its parameter does not admit: an attribute named it, or a
// subgraph gave it.
void hold_output_types(const Signature& signature, const Types& outputs, const Report& report);

// The parameter at which argument `k` stands: the last one takes all further arguments if it is
// variadic.
const ParameterSpec* parameter_at(std::span<const ParameterSpec> parameters, std::size_t k);

}  // namespace touchstone
