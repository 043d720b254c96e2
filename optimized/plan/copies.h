// Describes nodes that only move elements: the source of each output element.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "optimized/kernels/strided_copy.h"
#include "optimized/plan/analyzed_graph.h"

namespace touchstone::optimized {

inline constexpr Index zero_fill = -1;  // source of a zero that no input holds

// Run of contiguous elements of one input.
struct CopiedRun {
  Index source, from, to, count;
};
// Strided copy from one input, from element `from` on, to the output, from element `to` on.
struct CopiedPart {
  StridedCopy move;
  Index source = zero_fill, from = 0, to = 0;
};

// Sources are numbered among the inputs whose elements are moved.
struct CopiedOutput {
  Index buffer = no_value;
  Shape shape;
  std::vector<CopiedRun> runs;    // in order; or
  std::vector<CopiedPart> parts;  // strided copies, over the fill value if `filled`; or
  bool filled = false;
  Index fill = zero_fill;              // a source of one element; zero if `nothing`
  Index source = zero_fill;            // the one input of `elements`
  std::vector<std::int32_t> elements;  // one by one, -1 for zero
};

// True if the node moves the elements of its input k, which then has the first input's type
// parameter. Other inputs control the movement.
bool is_copied(const AnalyzedNode& fact, std::size_t k);

// Numbers all elements: element n of source k is named first[k] + n; 0 names none.
struct ElementNames {
  std::vector<Index> first;
  Index next = 1;

  ElementNames(const AnalyzedGraph& graph, const AnalyzedNode& fact);
  std::pair<Index, Index> of(Index name) const;  // source and element
};

// Runs the node on tensors whose elements are their names, or `whole` minus their names; returns
// the names in its outputs as float64. `shape`, if given, replaces the shape of the first input,
// and `made` the constant that is the first output's shape.
// Throws Error (unsupported) if no type for names leaves the node's arithmetic as it is.
std::vector<Value> run_on_names(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index whole,
                                const Shape* shape = nullptr, const Shape* made = nullptr);

// Returns nullopt if the strides need more dimensions than a StridedCopy has.
std::optional<StridedCopy> copy_of_strides(const Shape& extents, const IndexVector& source_strides,
                                           const IndexVector& target_strides);
// Describes an output, whose shape is set, from the names of its elements.
void describe(CopiedOutput& output, const std::int64_t* names, const ElementNames& known);

// Derives the movement from the node's role (inferred_copies.cc); nullopt if the role does not
// determine it.
std::optional<CopiedOutput> inferred_copy(const AnalyzedGraph& graph, const AnalyzedNode& fact);
// Derives the movement of every element from the reference kernel (probed_copies.cc); empty if the
// node does more than move them.
std::vector<CopiedOutput> probed_copy(const AnalyzedGraph& graph, const AnalyzedNode& fact);

}  // namespace touchstone::optimized
