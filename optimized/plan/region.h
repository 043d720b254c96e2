// Region of pointwise nodes that run as one step. For each slice of elements that stays in cache,
// one generated kernel runs per node, so that main memory is read and written once.
#pragma once

#include <optional>
#include <vector>

#include "optimized/plan/analyzed_graph.h"

namespace touchstone::optimized {

struct PointwiseOp {
  Index node;
  std::vector<Index> inputs;  // values, in the node's order; no_value if omitted
  Index output;               // a value
  Index second = no_value;    // a cast back, after a cast to 16 bits: one rounding
};

struct Region {
  Index start = no_value;  // value that another kernel leaves in the output's memory
  std::vector<PointwiseOp> ops;
  std::vector<Index> externals;  // values read from outside, except the start
  Shape shape;                   // of every value computed here

  bool empty() const { return ops.empty(); }
  Index output() const { return ops.back().output; }
  std::vector<Index> nodes() const;
};

// Returns the node as an operation of a region if it is elementwise with one float32 output: each
// element depends on its inputs' elements at the same index, broadcast. It must have a fast kernel
// for that.
std::optional<PointwiseOp> pointwise_op(const AnalyzedGraph& graph, Index node);

// Return the longest sequence of pointwise nodes from node `first` on (or of those that read
// `start`, which another kernel computes). All of its values except the last must have users inside
// only. `taken`: nodes of other groups. Empty if there is none.
Region grow_from_node(const AnalyzedGraph& graph, Index first, const std::vector<bool>& taken);
Region grow_from_value(const AnalyzedGraph& graph, Index start, const std::vector<bool>& taken);

}  // namespace touchstone::optimized
