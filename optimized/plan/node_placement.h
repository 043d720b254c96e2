// Placement of each node of a plan, also of nodes that no step holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optimized/plan/kernel_grade.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

std::string label_of(const Node& node);  // "'conv1' (Conv)"

// `spent`: microseconds of each step. The time of a step that runs subgraphs is without that of
// their nodes.
std::vector<NodePlacement> place_nodes(const AnalyzedGraph& graph,
                                       const std::vector<std::unique_ptr<Step>>& steps,
                                       const std::vector<double>& spent, const Limits& limits);

}  // namespace touchstone::optimized
