// What a shape says as a whole: how many elements, and its text.
#include "core/shape.h"

#include "core/error.h"

namespace touchstone {

Index count(const Shape& shape) {
  Index total = 1;
  bool fits = true;
  for (const Index size : shape) {
    if (size < 0) BUG("a shape with a negative size is counted");
    if (size == 0) return 0;
    fits = fits && !__builtin_mul_overflow(total, size, &total);
  }
  if (!fits)
    throw Error(ErrorKind::limit,
                "the number of elements of shape " + text(shape) + " does not fit 64 bits");
  return total;
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
