// Finds patterns in a graph. A match starts at the pattern's last node, the root, and follows
// inputs backwards.
#pragma once

#include <vector>

#include "core/shape.h"
#include "transform/optimize/mutable_graph.h"
#include "transform/optimize/pattern.h"
#include "transform/optimize/pattern_match.h"

namespace touchstone::transform {

// Returns the match with this root whose conditions hold, if any.
std::optional<PatternMatch> find_match(const Pattern& pattern, MutableGraph& graph,
                                       MutableGraph::Place root);

// Tries every node of the graph as the root, first to last. Returns the number of replacements.
Index apply_pattern(const Pattern& pattern, MutableGraph& graph);

}  // namespace touchstone::transform
