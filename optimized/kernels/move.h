// Any move of elements by steps: transposes, slices, what is repeated. The caller's dimensions are
// collapsed already (canonical/collapse.h), so five of them are enough for what there is.
#pragma once

#include <array>
#include <functional>
#include <numeric>

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone {

struct VectorMoves;
const VectorMoves& vector_moves(Isa isa);

// to[sum of i_d * to_steps[d]] = from[sum of i_d * from_steps[d]], innermost dimension first. Steps
// in elements; those of `to` lead to each element once, those of `from` may be 0 or less.
struct Move {
  static constexpr std::size_t rank = 5;
  std::array<Index, rank> extents{1, 1, 1, 1, 1};
  std::array<Index, rank> from_steps{}, to_steps{};
  Index whole = 0;  // elements of what this is a part of; 0: it is all

  Index elements() const {
    return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
  }
};

// An element is of 1, 2, 4 or 8 bytes. Parts are moves of their own: smaller extents, other
// pointers.
void run_move(Isa isa, const Move& move, int element_bytes, const void* from, void* to);

}  // namespace touchstone
