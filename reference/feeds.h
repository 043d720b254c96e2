// Checks fed values against the declarations of the main graph.
#pragma once

#include <map>
#include <string>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Throws Error (usage) for a feed of an unknown name, a wrong type or shape, and for a missing
// input.
void check_feeds(const Graph& graph, const std::map<std::string, Value>& feeds);

// The same for shapes alone: names, ranks and sizes. Missing inputs are not reported.
void check_shapes(const Graph& graph, const std::map<std::string, Shape>& shapes);

// Throws Error (limit) if a tensor inside the value exceeds the limits on rank, elements or bytes
// of a run.
void check_value(const Value& value, const Limits& limits);

// Converts a sparse tensor to a dense one.
Tensor dense(const SparseTensor& sparse);

}  // namespace touchstone
