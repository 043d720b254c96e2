// Attention that a model spells out: MatMul, scales and masks, Softmax, MatMul.
#pragma once

#include "optimized/lowering/fused.h"

namespace touchstone::optimized {

// A matrix for each element of the batch, by strides of all dimensions.
struct StackedMatrix {
  Index value;
  IndexVector strides;
};

// Changes every score: by one number, or by a tensor that is broadcast to the scores.
struct ScoreChange {
  enum class Kind { multiply, divide, add, keep_where, replace_where } kind;
  Index value;             // the number or the tensor; of `keep` and `replace`: the condition
  IndexVector strides;     // of the tensor, 0 where it repeats
  Index other = no_value;  // of `keep` and `replace`: the number of the other scores
};

struct AttentionChain {
  Shape scores;  // [..., queries, keys]
  Index depth, width;
  StackedMatrix queries, keys, values;  // keys as [..., depth, keys]
  std::vector<ScoreChange> changes;     // in order
  FusedNodes fused;
};

// Returns the chain that ends with this MatMul, if there is one and its shapes are known.
std::optional<AttentionChain> attention_chain(const AnalyzedGraph& graph, Index last);

}  // namespace touchstone::optimized
