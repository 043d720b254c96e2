// Fills Halide's buffer dimensions, whose extents and strides are 32-bit.
#include "optimized/kernels/compiled.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "optimized/problems/problem.h"

namespace touchstone::optimized {

void fill_dimensions(halide_dimension_t* dims, const Index* extents, const Index* strides,
                     std::size_t rank) {
  Index reach = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    const Index walked = std::max<Index>(extents[k] - 1, 0);
    Index last = 0;
    const bool counted = !__builtin_mul_overflow(walked, std::abs(strides[k]), &last) &&
                         last <= farthest && extents[k] <= farthest;
    if (!counted || (reach += last) > farthest) {
      throw Error(ErrorKind::unsupported, std::to_string(extents[k]) + " elements by strides of " +
                                              std::to_string(strides[k]) +
                                              " reach too far for the fast kernels");
    }
    // The stride of a dimension of extent 0 or 1 is never used.
    const bool fits = walked > 0 || std::abs(strides[k]) <= farthest;
    dims[k].extent = static_cast<std::int32_t>(extents[k]);
    dims[k].stride = fits ? static_cast<std::int32_t>(strides[k]) : 0;
  }
}

}  // namespace touchstone::optimized
