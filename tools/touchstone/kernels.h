// Kernels of a model's nodes, as `show --kernels`, `run --placement` and `run --warn-slow` print
// them.
#pragma once

#include <span>
#include <vector>

#include "core/json.h"
#include "optimized/plan/plan.h"

namespace touchstone::command {

// A row per node, and the number of nodes of each class; with timings the time of the run.
nlohmann::ordered_json kernels_report(const std::vector<optimized::NodePlacement>& rows,
                                      std::span<const optimized::Timing> timings = {});
void print_kernels(const nlohmann::ordered_json& report);

// Nodes that ran on reference kernels, those of the largest share of the run's time first.
nlohmann::ordered_json slow_nodes(const std::vector<optimized::NodePlacement>& rows,
                                  std::span<const optimized::Timing> timings);
void warn_slow(const nlohmann::ordered_json& slow);  // to stderr; nothing if there are none

}  // namespace touchstone::command
