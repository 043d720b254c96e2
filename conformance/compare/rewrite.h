// Models made out of a model: with values of the main graph as outputs (taps), or some of its nodes
// alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone {

// What the nodes of the main graph make and no output shows, in the order in which they make it.
std::vector<std::string> hidden_values(const Model& model);

// The types of the main graph's values, declared or inferred, as far as they are known.
std::map<std::string, ValueType> types_of_values(const Model& model);

// The model with these values as outputs behind its own. Nothing else changes.
Model with_taps(const Model& model, const std::vector<std::string>& taps,
                const std::map<std::string, ValueType>& types);

// The hidden values that the named nodes read and make. A node is named by its name, by an output
// or by its position ("#3"). Throws Error (usage) for a name that no node has.
std::vector<std::string> taps_around(const Model& model, const std::vector<std::string>& nodes);

// These nodes as a model of their own. What they read from outside becomes an input of the type
// and shape that its value has, in the order in which it is read; initializers that nothing feeds
// stay what they are.
// What they make and `values` names becomes an output.
Model cut_out(const Model& model, const std::set<Index>& nodes,
              const std::map<std::string, Value>& values);

}  // namespace touchstone
