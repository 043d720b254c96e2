// Matmuls of 8-bit integers whose sums are scaled: MatMulInteger and nodes after it.
#pragma once

#include "optimized/lowering/fused.h"

namespace touchstone::optimized {

// Nodes after a MatMulInteger: a cast to float32, a product with one scale or one for each column,
// and a sum with such a bias or none.
struct ScaledMatmul {
  Index product;                            // a node
  Index scale = no_value, bias = no_value;  // values
  FusedNodes fused;
};

// Returns the longest such chain, if it ends with this node. Shapes are known.
std::optional<ScaledMatmul> scaled_by(const AnalyzedGraph& graph, Index last);

}  // namespace touchstone::optimized
