// Rows that softmax and normalizations of any type work on.
#pragma once

#include <optional>

#include "optimized/plan/analyzed_graph.h"
#include "reference/lists.h"

namespace touchstone::optimized {

constexpr int softmax_of_one_axis = 13;  // earlier versions take all axes from `axis` on

// Returns the number of elements of a row, or nothing if rows are not contiguous or a rule is
// violated.
inline std::optional<Index> softmax_row(const Shape& x, const AnalyzedNode& fact) {
  constexpr int axis_below_rank = 11;
  const int since = fact.node->signature->since;
  const bool one_axis = since >= softmax_of_one_axis;
  const Index rank = x.size(),
              axis = wrap(fact.attributes().integer("axis", one_axis ? -1 : 1), rank);
  if (axis < 0 || axis > rank || (axis == rank && since >= axis_below_rank)) return std::nullopt;
  if (!one_axis) return count(tail(x, axis));
  if (count(tail(x, axis + 1)) != 1) return std::nullopt;
  return x[axis];
}

// True if a scale or bias has one number, or one for each of a row.
inline bool fits_rows(const Shape& scale, const Shape& x, Index axis) {
  if (scale.size() > x.size()) return false;
  if (count(scale) == 1) return true;
  const Index missing = x.size() - scale.size();
  for (Index d = 0; d < x.size(); ++d) {
    const Index own = d < missing ? 1 : scale[d - missing];
    if (own != (d < axis ? 1 : x[d])) return false;
  }
  return true;
}

}  // namespace touchstone::optimized
