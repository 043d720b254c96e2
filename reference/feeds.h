// What a caller feeds, held against what the main graph declares.
#pragma once

#include <map>
#include <string>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Throws Error (usage) for a feed of an unknown name, a wrong type or shape, and for an input that
// is missing.
void check_feeds(const Graph& graph, const std::map<std::string, Value>& feeds);

// Throws Error (limit) if a tensor inside the value has more dimensions, elements or bytes than a
// run admits.
void check_value(const Value& value, const Limits& limits);

// The tensor that a sparse one stands for.
Tensor dense(const SparseTensor& sparse);

}  // namespace touchstone
