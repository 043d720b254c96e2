// Strided copy of up to five dimensions: transposes, slices, broadcasts. Callers collapse
// dimensions first (canonical/collapse.h), so five are enough for all operators.
#pragma once

#include <array>
#include <functional>
#include <numeric>

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone {

struct VectorMoves;
const VectorMoves& vector_moves(Isa isa);

// to[sum of i_d * to_steps[d]] = from[sum of i_d * from_steps[d]], innermost dimension first.
// Strides are in elements. `to_steps` must reach each element once; `from_steps` may be zero or
// negative.
struct Move {
  static constexpr std::size_t rank = 5;
  std::array<Index, rank> extents{1, 1, 1, 1, 1};
  std::array<Index, rank> from_steps{}, to_steps{};
  Index whole = 0;  // elements of the whole copy if this is a part of one; 0: this is all

  Index elements() const {
    return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
  }
};

// Runs the copy; elements have 1, 2, 4 or 8 bytes. A part of a copy is a Move of its own, with
// smaller extents and other pointers.
void run_move(Isa isa, const Move& move, int element_bytes, const void* from, void* to);

}  // namespace touchstone
