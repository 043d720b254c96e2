// Which nodes become one step of a plan, and what kind of step.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "backends/device.h"
#include "optimized/canonical/window.h"
#include "optimized/plan/region.h"

namespace touchstone {

enum class Work {
  reference,    // one node on its reference kernel
  kernel,       // one node on a generated kernel, called as it is
  nest,         // one node on a nest
  pointwise,    // a region
  convolution,  // with residual, clamp and region behind it
  transposed,   // convolution, with clamp and region behind it
  pool,
  product,      // of matrices, the second of them constant, with a bias and a clamp
  fed_product,  // of two stacks of matrices that are both computed
  join,         // along the channels
  move,         // elements to other places
  repeat,       // a move: each element of an image some times along its rows and columns
  view,         // the same elements in another shape
  on_device,    // one node on a device
  view_on_device,
};

struct Repeat {
  Index rows = 1, columns = 1;
};

struct Group {
  Work work = Work::reference;
  std::vector<Index> nodes;  // in the model's order; the first computes, the last says when
  Index made = nobody;       // what the first node's kernel leaves, clamp and residual included
  Index residual = nobody;   // a value of the same shape that is added before the clamp
  Index input = nobody;      // of a convolution, in place of the node's own: what is multiplied by
  Index factors = nobody;    // these, one a channel, by which the weights are multiplied instead
  float least = -std::numeric_limits<float>::infinity();
  float most = std::numeric_limits<float>::infinity();
  Region region;  // runs on what was made, slice by slice
  Window window;  // of convolutions and pools
  Repeat repeat;
  bool blocks = false;  // its output is made in blocks of channels: Builder decides

  Index main() const { return nodes.front(); }
  Index output() const { return region.empty() ? made : region.output(); }
};

// A group and the region behind it as groups of their own; there may be no region.
std::pair<Group, std::optional<Group>> apart(const Group& group);

// Whether a node only moves floats, by rules that constants and shapes decide.
bool is_move(const Outline& outline, Index node);
// How often such a node repeats each element of the one feature map that it reads; none where it
// does anything else.
std::optional<Repeat> repeats(const Outline& outline, Index node);

// Whether a node has a nest, and its values the types that it wants.
bool takes_nest(const Outline& outline, Index node);

// Whether packing the second matrix in every run is worth it.
bool takes_fed_product(const Shape& a, const Shape& b);

// In an order in which they can run. `fuse`: whether a step may be more than one node. `device`: if
// given, it runs every node that it has a kernel for; `host` says whether the processor runs the
// others. Throws Error (unsupported) with a node's place where nobody runs it.
std::vector<Group> group_nodes(const Outline& outline, bool fuse, const Device* device = nullptr,
                               bool host = true);

}  // namespace touchstone
