// Halide's own error handler ends the process; ours keeps the words and lets the kernel return.
#include "optimized/kernels/compiled.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"
#include "optimized/canonical/problem.h"

namespace touchstone {

namespace {

// No string: it would take memory the first time that a thread comes here.
thread_local std::array<char, 1024> last_error;

void keep_error(void*, const char* message) {
  const std::size_t length = std::min(std::strlen(message), last_error.size() - 1);
  std::memcpy(last_error.data(), message, length);
  last_error[length] = '\0';
}

}  // namespace

void fill_dimensions(halide_dimension_t* dims, const Index* extents, const Index* steps,
                     std::size_t rank) {
  Index reach = 0;
  for (std::size_t k = 0; k < rank; ++k) {
    const Index walked = std::max<Index>(extents[k] - 1, 0);
    Index last = 0;
    const bool counted = !__builtin_mul_overflow(walked, std::abs(steps[k]), &last) &&
                         last <= farthest && extents[k] <= farthest;
    if (!counted || (reach += last) > farthest) {
      throw Error(ErrorKind::unsupported, std::to_string(extents[k]) + " elements by steps of " +
                                              std::to_string(steps[k]) +
                                              " reach too far for the fast kernels");
    }
    // The step of a dimension that is not walked may be anything.
    const bool fits = walked > 0 || std::abs(steps[k]) <= farthest;
    dims[k].extent = static_cast<std::int32_t>(extents[k]);
    dims[k].stride = fits ? static_cast<std::int32_t>(steps[k]) : 0;
  }
}

void call_compiled(CompiledKernel kernel, void** arguments) {
  static const bool handled = (halide_set_error_handler(keep_error), true);
  (void)handled;
  last_error[0] = '\0';
  if (const int status = kernel(arguments); status != 0) {
    const bool memory = status == halide_error_code_out_of_memory;
    throw Error(
        memory ? ErrorKind::out_of_memory : ErrorKind::internal,
        "a fast kernel failed with status " + std::to_string(status) + ": " + last_error.data());
  }
}

}  // namespace touchstone
