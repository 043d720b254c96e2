// Merges dimensions, from the innermost outwards.
#include "optimized/problems/collapse.h"

namespace touchstone::optimized {

namespace {

bool continues(const std::vector<IndexVector>& strides, Index outer, Index inner, Index extent) {
  return std::all_of(strides.begin(), strides.end(),
                     [&](const IndexVector& s) { return s[outer] == s[inner] * extent; });
}

}  // namespace

IndexVector broadcast_strides(const Shape& from, Index rank, Index start) {
  const IndexVector dense = dense_strides(from);
  IndexVector strides(rank, 0);
  for (Index d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[start + d] = dense[d];
  }
  return strides;
}

Collapsed collapse(const Shape& extents, const std::vector<IndexVector>& strides) {
  if (count(extents) == 0) return {Shape{0}, {strides.size(), IndexVector{0}}};
  Shape kept;
  std::vector<IndexVector> steps(strides.size());  // innermost first
  Index last = -1;
  for (Index k = extents.size() - 1; k >= 0; --k) {
    if (extents[k] == 1) continue;
    // At most 2^30 elements: kernels count in 32 bits.
    const bool fits = last >= 0 && kept.back() <= (Index{1} << 30) / extents[k];
    if (fits && continues(strides, k, last, kept.back())) {
      kept[kept.size() - 1] *= extents[k];
      continue;
    }
    last = k;
    kept.push_back(extents[k]);
    for (std::size_t o = 0; o < strides.size(); ++o) steps[o].push_back(strides[o][k]);
  }
  Collapsed made;
  made.strides.resize(strides.size());
  for (Index k = kept.size() - 1; k >= 0; --k) {
    made.extents.push_back(kept[k]);
    for (std::size_t o = 0; o < strides.size(); ++o) made.strides[o].push_back(steps[o][k]);
  }
  return made;
}

}  // namespace touchstone::optimized
