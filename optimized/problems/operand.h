// Operand of a canonical problem: a pointer and one stride per dimension. The strides come from
// evaluating the entry's own index expression, which codegen has proved affine, at the origin and
// at one more point per dimension.
#pragma once

#include "reference/view.h"

namespace touchstone::optimized {

struct Operand {
  const float* data = nullptr;
  // In elements, as many as the problem has dimensions; 0 if the operand is broadcast along one.
  IndexVector strides;
};

// Returns the operand that reads view[point(p)] for every p of the box `extents`. Throws Error
// (invalid_input) if some of these points are outside of the view.
template <class F>
Operand operand(const View<const float>& view, const Shape& extents, F point) {
  static constexpr float nothing = 0;
  Operand made{&nothing, IndexVector(extents.size(), 0)};
  if (!view.given() || count(extents) == 0) return made;  // an absent operand is never read
  IndexVector p(extents.size(), 0);
  const IndexVector origin = point(p);
  IndexVector min = origin, max = origin;
  Index at = 0;
  for (Index d = 0; d < origin.size() && d < view.shape.size(); ++d)
    at = add(at, multiply(origin[d], view.strides[d]));
  for (Index k = 0; k < extents.size(); ++k) {
    if (extents[k] == 1) continue;
    p[k] = 1;
    const IndexVector next = point(p);
    p[k] = 0;
    for (Index d = 0; d < origin.size() && d < view.shape.size(); ++d) {
      const Index step = subtract(next[d], origin[d]);
      made.strides[k] = add(made.strides[k], multiply(step, view.strides[d]));
      Index& end = (step < 0 ? min : max)[d];
      end = add(end, multiply(step, extents[k] - 1));
    }
  }
  if (!view.holds(min) || !view.holds(max)) view.outside(view.holds(max) ? min : max);
  made.data = view.data + at;
  return made;
}

}  // namespace touchstone::optimized
