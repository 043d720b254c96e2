// Operations on whole shapes: the number of elements, strides, and text.
#include "core/shape.h"

#include "core/checked.h"
#include "core/error.h"

namespace touchstone {

void does_not_fit(Index a, char operation, Index b) {
  throw Error(ErrorKind::limit, "a size or index does not fit 64 bits: " + std::to_string(a) + ' ' +
                                    operation + ' ' + std::to_string(b))
      .with_help("sizes, strides, pads and dilations add up and multiply to less than 2^63");
}

Index count(const Shape& shape) {
  Index total = 1;
  bool fits = true;
  for (const Index size : shape) {
    if (size < 0)
      throw Error(ErrorKind::invalid_input, "the shape " + text(shape) + " has a negative size");
    if (size == 0) return 0;
    fits = fits && !__builtin_mul_overflow(total, size, &total);
  }
  if (!fits)
    throw Error(ErrorKind::limit,
                "the number of elements of shape " + text(shape) + " does not fit 64 bits");
  return total;
}

IndexVector dense_strides(const Shape& shape) {
  Fits fits;
  IndexVector strides(shape.size(), 1);
  for (Index k = shape.size() - 2; k >= 0; --k)
    strides[k] = fits.multiply(strides[k + 1], shape[k + 1]);
  if (!fits.all() && count(shape) == 0) return IndexVector(shape.size(), 0);
  return strides;
}

std::string text(const Shape& shape) {
  std::string out = "[";
  for (const Index size : shape) {
    if (out.size() > 1) out += ',';
    out += std::to_string(size);
  }
  return out + "]";
}

}  // namespace touchstone
