// Pointwise nodes that run as one: over a slice of the elements that stays in the cache, one
// generated kernel a node, so that memory is read and written once.
#pragma once

#include <vector>

#include "optimized/plan/outline.h"

namespace touchstone {

struct PointwiseOp {
  Index node;
  std::vector<Index> inputs;  // values, as the node names them; nobody where left out
  Index output;               // a value
};

struct Region {
  Index start = nobody;  // the value that another kernel leaves where the output will stand
  std::vector<PointwiseOp> ops;
  std::vector<Index> externals;  // values that are read and neither made here nor the start
  Shape shape;                   // of every value that is made here

  bool empty() const { return ops.empty(); }
  Index output() const { return ops.back().output; }
};

// Whether a node computes each element of its one float output from the elements of its inputs at
// the same place, broadcast, and has a fast kernel for that.
bool is_pointwise(const Outline& outline, Index node);

// The longest run of pointwise nodes that begins at node `first` (or at what reads `start`, which
// is made elsewhere), all of whose values but the last are read by nodes of the run alone. `taken`:
// nodes that others run. Empty if there is none.
Region grow_from_node(const Outline& outline, Index first, const std::vector<bool>& taken);
Region grow_from_value(const Outline& outline, Index start, const std::vector<bool>& taken);

}  // namespace touchstone
