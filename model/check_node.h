// Rules of a single node, independent of its graph. The checker reports every breach; a run refuses
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

// Names of the attributes that a function declares, for constant-time lookup of the references in
// its body. Views into the function, which must outlive it.
class DeclaredAttributes {
 public:
  explicit DeclaredAttributes(const Function& function);
  bool contains(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string_view> names_;
};

// Reports breaches of the number of inputs and outputs, omitted arguments, and attributes and their
// kinds. `around` holds the attributes of the function whose body contains the node, or is null.
void check_node(const Node& node, const DeclaredAttributes* around, const Report& report);

// Binds the type constraints of a node from the types of its inputs; an unknown or omitted input
// has none. Returns the output types that follow, one per output.
using Types = std::vector<std::optional<ValueType>>;
Types bind_types(const Node& node, std::span<const std::optional<ValueType>> inputs,
                 const Report& report);

// Reports outputs whose type their parameter does not admit. Such types come from an attribute or a
// subgraph.
void hold_output_types(const Signature& signature, const Types& outputs, const Report& report);

// Returns the parameter of argument `k`; a variadic last parameter takes all further arguments.
// Null if there is none.
const ParameterSpec* parameter_at(std::span<const ParameterSpec> parameters, std::size_t k);

}  // namespace touchstone
