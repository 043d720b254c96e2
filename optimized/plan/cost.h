// Cost model of a step for profiles: values read and written, bytes and operations.
#pragma once

#include <vector>

#include "optimized/plan/analyzed_graph.h"

namespace touchstone::optimized {

struct Cost {
  // Values from outside, constants included; values visible outside.
  std::vector<Index> reads, writes;
  Index bytes = 0;  // of both, for known shapes
  // Operations on elements as the definition counts them, whatever algorithm runs; 0 if unknown.
  Index flop = 0;
};

Cost cost_of(const AnalyzedGraph& graph, const std::vector<Index>& nodes);

// Rough upper bound of the time of one thread. Infinite if a shape is unknown or a node has
// subgraphs.
double nanoseconds_of(const AnalyzedGraph& graph, const std::vector<Index>& nodes);

}  // namespace touchstone::optimized
