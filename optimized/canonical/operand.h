// How a tensor is walked by a canonical problem: a pointer and one stride a dimension. The strides
// are asked of the entry's own index expression, which codegen has shown to be affine: one point
// for the origin, one more a dimension.
#pragma once

#include "reference/view.h"

namespace touchstone {

struct Operand {
  const float* data = nullptr;
  Point strides;  // in elements, as many as the problem has dimensions; 0 where the operand is
                  // repeated
};

// The operand that reads view[point(p)] for every p of the box `extents`. Throws Error
// (invalid_input) where that lies outside.
template <class F>
Operand operand(const View<const float>& view, const Shape& extents, F point) {
  static constexpr float nothing = 0;
  Operand made{&nothing, Point(extents.size(), 0)};
  if (!view.given() || count(extents) == 0)
    return made;  // not given: the definition does not look at it
  Point p(extents.size(), 0);
  const Point origin = point(p);
  Point least = origin, most = origin;
  Index at = 0;
  for (Index d = 0; d < origin.size() && d < view.shape.size(); ++d)
    at = add(at, multiply(origin[d], view.strides[d]));
  for (Index k = 0; k < extents.size(); ++k) {
    if (extents[k] == 1) continue;
    p[k] = 1;
    const Point next = point(p);
    p[k] = 0;
    for (Index d = 0; d < origin.size() && d < view.shape.size(); ++d) {
      const Index step = subtract(next[d], origin[d]);
      made.strides[k] = add(made.strides[k], multiply(step, view.strides[d]));
      Index& end = (step < 0 ? least : most)[d];
      end = add(end, multiply(step, extents[k] - 1));
    }
  }
  if (!view.holds(least) || !view.holds(most)) view.outside(view.holds(most) ? least : most);
  made.data = view.data + at;
  return made;
}

}  // namespace touchstone
