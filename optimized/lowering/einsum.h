// Einsum: the labels of its equation as strides of its operands, and a step for three operands or
// more.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "optimized/lowering/lowering.h"

namespace touchstone::optimized {

inline constexpr std::size_t most_einsum_operands = 32;

// Labels of an equation. The result's come first, in its order; all later ones are summed.
struct EinsumLabels {
  IndexVector extents;               // by label
  Index kept = 0;                    // number of the result's
  std::vector<IndexVector> strides;  // by operand and label; 0: the operand repeats along it
};

// Returns nothing for an equation or shapes that break a rule.
std::optional<EinsumLabels> einsum_labels(std::string_view equation,
                                          const std::vector<const Shape*>& shapes);

// Step for three operands or more, up to most_einsum_operands: products of two of them at a time.
std::unique_ptr<Step> einsum_chain_step(const AnalyzedGraph& graph, Index node,
                                        std::vector<Index> buffers);

}  // namespace touchstone::optimized
