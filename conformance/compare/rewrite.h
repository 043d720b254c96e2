// Derives models from a model: with values of the main graph as additional outputs (taps), or only
// some of its nodes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone::compare {

// Returns the values that the main graph's nodes make and that are no outputs, in the order of
// computation.
std::vector<std::string> hidden_values(const Model& model);

// Returns the types of the main graph's values, declared or inferred, as far as they are known.
std::map<std::string, ValueType> types_of_values(const Model& model);

// Returns the model with these values as outputs after its own. Nothing else changes.
Model with_taps(const Model& model, const std::vector<std::string>& taps,
                const std::map<std::string, ValueType>& types);

// Returns the hidden values that the named nodes read and make. A node is identified by its name,
// by an output or by its position ("#3"). Throws Error (usage) for an unknown name.
std::vector<std::string> taps_around(const Model& model, const std::vector<std::string>& nodes);

// Returns these nodes as a model. Values that they read from outside become inputs with the type
// and shape of the value, in the order in which they are read; initializers that are not fed stay
// initializers. Values that they make become outputs if `values` has them.
Model cut_out(const Model& model, const std::set<Index>& nodes,
              const std::map<std::string, Value>& values);

}  // namespace touchstone::compare
