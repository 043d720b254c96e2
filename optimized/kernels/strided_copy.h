// Strided copy of up to five dimensions: transposes, slices, broadcasts. Callers collapse
// dimensions first (problems/collapse.h), so five are enough for all operators.
#pragma once

#include <array>
#include <functional>
#include <numeric>

#include "core/shape.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

struct VectorCopies;
const VectorCopies& vector_copies(Isa isa);

// to[sum of i_d * target_strides[d]] = from[sum of i_d * source_strides[d]], innermost dimension
// first. Strides are in elements. `target_strides` must reach each element once; `source_strides`
// may be zero or negative.
struct StridedCopy {
  static constexpr std::size_t rank = 5;
  std::array<Index, rank> extents{1, 1, 1, 1, 1};
  std::array<Index, rank> source_strides{}, target_strides{};
  Index whole = 0;  // elements of the whole copy if this is a part of one; 0: this is all

  Index elements() const {
    return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
  }
};

// Runs the copy; elements have 1, 2, 4 or 8 bytes. A part of a copy is a StridedCopy of its own,
// with smaller extents and other pointers.
void run_strided_copy(Isa isa, const StridedCopy& move, int element_bytes, const void* from,
                      void* to);

}  // namespace touchstone::optimized
