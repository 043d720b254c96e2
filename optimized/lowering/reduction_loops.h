// Loops of reductions over rows of any number type.
#pragma once

#include <string_view>

#include "core/types.h"

namespace touchstone::optimized {

// A reduction of elements of one type into accumulators. A sum of integers has 64 bits.
struct ReductionLoops {
  Index bytes = 0;  // of an accumulator
  void (*start)(void* accumulators, Index count);
  // Reduces `count` contiguous elements into one accumulator.
  void (*along)(const void* from, Index count, void* accumulator);
  // Reduces each of `count` contiguous elements into an accumulator of its own.
  void (*beside)(const void* from, Index count, void* accumulators);
  // Reduces a second accumulator into the first.
  void (*join)(void* first, const void* second);
  // Makes results of accumulators of `terms` elements each; returns false for a result that only
  // the reference computes.
  bool (*finish)(const void* accumulators, Index count, Index terms, void* to);
  // A second pass over the elements, or null: sums that depend on the result of the first.
  void (*along_again)(const void* from, Index count, void* accumulator) = nullptr;
  void (*beside_again)(const void* from, Index count, void* accumulators) = nullptr;
};

// Returns null if no loop computes the operator on elements of this type.
const ReductionLoops* reduction_loops(std::string_view op, Type type);

}  // namespace touchstone::optimized
