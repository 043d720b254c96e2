// How a reader of a kernel walks: worked out here once for all kernels, from a few of its points.
#include "reference/view.h"

namespace touchstone {
namespace {

// The indices i for which 0 <= origin + i * slope < extent.
void narrow(Index origin, Index slope, Index extent, Index& low, Index& high) {
  if (slope > 0) {
    low = std::max(low, ceil_div(-origin, slope));
    high = std::min(high, floor_div(extent - 1 - origin, slope) + 1);
  } else {
    low = std::max(low, ceil_div(origin - (extent - 1), -slope));
    high = std::min(high, floor_div(origin, -slope) + 1);
  }
}

}  // namespace

void read_outside(const Point& at, const Shape& shape) {
  throw Error(ErrorKind::invalid_input,
              "element " + text(at) + " is read of a tensor of shape " + text(shape));
}

Index bytes_of_array(const Shape& shape, std::size_t item) {
  Index bytes = 0;
  const Index most = current_limits().bytes;
  if (__builtin_mul_overflow(count(shape), static_cast<Index>(item), &bytes) || bytes > most) {
    throw passes_limit("an array of " + std::to_string(item) + " bytes" + text(shape), "bytes",
                       most);
  }
  return bytes;
}

Walk walk_of(Point (*point_at)(const void* reader, const Point& at, Index c), const void* reader,
             const Row& row, Index inner, const Shape& shape, const Point& strides) {
  Walk walk;
  const Point origin = point_at(reader, row.at, 0);
  if (origin.size() != shape.size()) read_outside(origin, shape);
  const Point next_c = inner > 1 ? point_at(reader, row.at, 1) : origin;
  const Point next_x = row.length > 1 ? point_at(reader, row.point(1), 0) : origin;
  for (Index k = 0; k < origin.size(); ++k) {
    const Index c = next_c[k] - origin[k], x = next_x[k] - origin[k], extent = shape[k];
    const Index last_c = c * (inner - 1), last_x = x * (row.length - 1);
    const Index least = origin[k] + std::min<Index>(last_c, 0) + std::min<Index>(last_x, 0);
    const Index most = origin[k] + std::max<Index>(last_c, 0) + std::max<Index>(last_x, 0);
    if (least < 0 || most >= extent) {
      walk.whole = false;
      if (c != 0 && x != 0) return walk;  // the valid part is no box: ask for every element
      if (c != 0)
        narrow(origin[k], c, extent, walk.low_c, walk.high_c);
      else if (x != 0)
        narrow(origin[k], x, extent, walk.low_x, walk.high_x);
      else
        walk.high_c = 0;
    }
    walk.base += origin[k] * strides[k];
    walk.by_c += c * strides[k];
    walk.by_x += x * strides[k];
  }
  walk.affine = true;
  return walk;
}

}  // namespace touchstone
