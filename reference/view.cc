// Affine address computation of readers, derived from a few of their points. Common to all kernels.
#include "reference/view.h"

namespace touchstone {
namespace {

// Intersects [low, high) with the indices i for which 0 <= origin + i * slope < extent.
void narrow(Index origin, Index slope, Index extent, Index& low, Index& high, Fits& fits) {
  const bool up = slope > 0;
  const Index to_first = fits.subtract(0, origin), to_last = fits.subtract(extent - 1, origin);
  const Index step = up ? slope : fits.subtract(0, slope);
  const Index from = up ? to_first : fits.subtract(0, to_last);
  const Index to = up ? to_last : origin;
  if (!fits.all()) return;
  low = std::max(low, ceil_div(from, step));
  high = std::min(high, fits.add(floor_div(to, step), 1));
}

// True if base + c * by_c + x * by_x fits for all c in 0..inner-1 and x in 0..length-1. All values,
// intermediate ones included, are between those at the corners.
bool corners_fit(const AffineAccess& access, Index inner, Index length, Fits& fits) {
  const Index last_c = fits.multiply(access.by_c, inner - 1);
  const Index last_x = fits.multiply(access.by_x, length - 1);
  fits.add(access.base, last_x);
  fits.add(fits.add(access.base, last_c), last_x);
  return fits.all();
}

}  // namespace

void read_outside(const IndexVector& at, const Shape& shape) {
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

AffineAccess affine_access(IndexVector (*point_at)(const void* reader, const IndexVector& at,
                                                   Index c),
                           const void* reader, const Row& row, Index inner, const Shape& shape,
                           const IndexVector& strides) {
  AffineAccess access;
  const IndexVector origin = point_at(reader, row.at, 0);
  if (origin.size() != shape.size()) read_outside(origin, shape);
  const IndexVector next_c = inner > 1 ? point_at(reader, row.at, 1) : origin;
  const IndexVector next_x = row.length > 1 ? point_at(reader, row.point(1), 0) : origin;
  Fits fits;
  for (Index k = 0; k < origin.size() && fits.all(); ++k) {
    const Index c = fits.subtract(next_c[k], origin[k]), x = fits.subtract(next_x[k], origin[k]);
    const Index extent = shape[k], last_c = fits.multiply(c, inner - 1),
                last_x = fits.multiply(x, row.length - 1);
    const Index least =
        fits.add(fits.add(origin[k], std::min<Index>(last_c, 0)), std::min<Index>(last_x, 0));
    const Index most =
        fits.add(fits.add(origin[k], std::max<Index>(last_c, 0)), std::max<Index>(last_x, 0));
    if (least < 0 || most >= extent) {
      access.whole = false;
      if (c != 0 && x != 0) return access;  // the valid part is not a box: evaluates every element
      if (c != 0)
        narrow(origin[k], c, extent, access.low_c, access.high_c, fits);
      else if (x != 0)
        narrow(origin[k], x, extent, access.low_x, access.high_x, fits);
      else
        access.high_c = 0;
    }
    access.base = fits.add(access.base, fits.multiply(origin[k], strides[k]));
    access.by_c = fits.add(access.by_c, fits.multiply(c, strides[k]));
    access.by_x = fits.add(access.by_x, fits.multiply(x, strides[k]));
  }
  access.affine = corners_fit(access, inner, row.length, fits);
  return access;
}

}  // namespace touchstone
