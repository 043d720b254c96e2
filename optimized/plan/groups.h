// Groups of nodes that become one step of a plan, and the kind of that step.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "backends/device.h"
#include "optimized/plan/region.h"
#include "optimized/problems/window.h"

namespace touchstone::optimized {

enum class GroupKind {
  reference,               // one node on its reference kernel
  kernel,                  // one node on a generated kernel, called directly
  row_kernel,              // one node on a row kernel
  family,                  // one node on a kernel family (optimized/lowering)
  fused_family,            // several nodes on a family
  pointwise,               // a region
  convolution,             // fused with a residual, a clamp and a region
  transposed_convolution,  // convolution, fused with a clamp and a region
  pool,
  matmul,            // a matmul with a constant second matrix, bias and clamp
  matmul_dynamic_b,  // a matmul of two computed stacks of matrices
  concat,            // along the channels
  copy,              // data movement
  repeat,            // data movement that repeats each element of an image along rows and columns
  view,              // the same elements in another shape
  on_device,         // one node on a device
  view_on_device,
};

struct KernelFamily;
struct FusedFamily;

struct Repeat {
  Index rows = 1, columns = 1;
};

struct Group {
  GroupKind kind = GroupKind::reference;
  // In the model's order; the first computes, the last defines the position.
  std::vector<Index> nodes;
  Index made = no_value;      // output of the first node's kernel, clamp and residual included
  Index residual = no_value;  // value of the same shape, added before the clamp
  // replaces the input of a convolution: the product's operand that is scaled
  Index input = no_value;
  // Its other operand, one factor per channel, which scales the weights instead.
  Index factors = no_value;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  Region region;  // runs on the result, slice by slice
  Window window;  // of convolutions and pools
  Repeat repeat;
  const KernelFamily* family = nullptr;
  const FusedFamily* fused = nullptr;
  std::vector<Index> reads;  // values that a fused family reads
  bool blocks = false;       // its output is in channel blocks; set by Builder

  Index main() const { return nodes.front(); }
  Index output() const { return region.empty() ? made : region.output(); }
};

// Splits a group into the kernel's own and the region after it, if there is one.
std::pair<Group, std::optional<Group>> apart(const Group& group);

// Most elements of a node that the reference runs to plan it: about two milliseconds.
inline constexpr Index max_probed = 2048;

// True if a node only moves float32 elements, by rules that depend on constants and shapes alone.
bool moves_floats(const AnalyzedGraph& graph, Index node);
// The same, where its plan is made fast: of few elements, or of a movement that few runs explain.
bool is_data_movement(const AnalyzedGraph& graph, Index node);
// The same for elements of any type but strings; outputs may be empty.
bool is_movement_of_any_type(const AnalyzedGraph& graph, Index node);
// Returns the repetitions if the node is data movement that only repeats each element of the
// feature map that it reads, else nullopt. Runs the reference.
std::optional<Repeat> repeats(const AnalyzedGraph& graph, Index node);

// True if a node has a row kernel whose types match its values.
bool takes_row_kernel(const AnalyzedGraph& graph, Index node);

// True if packing the second matrix in every run pays.
bool takes_matmul_dynamic_b(const Shape& a, const Shape& b);

// Returns the groups of fused families, and marks their nodes in `taken`.
std::vector<Group> fused_groups(const AnalyzedGraph& graph, std::vector<bool>& taken);

// Returns the groups in an executable order. `fuse`: a step may cover several nodes. `device`: if
// not null, runs every node for which it has a kernel; `host` allows the processor to run the
// others. Throws Error (unsupported) with a node's place if nothing can run it.
std::vector<Group> group_nodes(const AnalyzedGraph& graph, bool fuse,
                               const backends::Device* device = nullptr, bool host = true);

}  // namespace touchstone::optimized
