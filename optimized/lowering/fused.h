// Several nodes that one step computes: families that take a node with nodes before it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optimized/lowering/lowering.h"

namespace touchstone::optimized {

// Nodes that a step computes, in the model's order. No other node reads the outputs of those before
// the last.
struct FusedNodes {
  std::vector<Index> nodes;
  std::vector<Index> reads;  // values
};

struct FusedFamily {
  // Returns the nodes that are computed with `last`, if the family takes it.
  std::optional<FusedNodes> (*takes)(const AnalyzedGraph& graph, Index last);
  // `buffers`: as for a KernelFamily, of the outputs of `last`.
  std::unique_ptr<Step> (*step)(const AnalyzedGraph& graph, Index last, std::vector<Index> buffers);
};

// True for a node of the standard's own domain that is run.
inline bool is_standard(const AnalyzedNode& fact, std::string_view op) {
  return !fact.broken && !fact.folded && fact.node->signature != nullptr &&
         fact.node->signature->domain.empty() && fact.node->signature->op == op;
}

extern const FusedFamily attention_chain_family;
extern const FusedFamily quantised_sum_family;
extern const FusedFamily scaled_matmul_family;

// In the order in which they are asked.
std::span<const FusedFamily* const> fused_families();
std::span<const std::string_view> fused_family_names();  // "attention_chain", .., as above

}  // namespace touchstone::optimized
