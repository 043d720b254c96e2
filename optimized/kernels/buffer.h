// A buffer as compiled kernels take it: a pointer, and an extent and a step for each dimension.
#pragma once

#include <HalideRuntime.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"
#include "optimized/kernels/picture.h"

namespace touchstone {

struct Axis {
  Index extent, step;
};

template <std::size_t rank>
class KernelBuffer {
 public:
  // Throws Error (unsupported) where an element lies farther from the first than 32 bits count, as
  // kernels do.
  KernelBuffer(const float* data, const std::array<Axis, rank>& axes) {
    Index reach = 0;
    for (std::size_t k = 0; k < rank; ++k) {
      reach += std::max<Index>(axes[k].extent - 1, 0) * axes[k].step;
      if (reach > std::numeric_limits<std::int32_t>::max()) {
        throw Error(ErrorKind::unsupported, "a feature map of over 2^31 elements");
      }
      dims_[k].extent = static_cast<std::int32_t>(axes[k].extent);
      dims_[k].stride = static_cast<std::int32_t>(axes[k].step);
    }
    buffer_.host = reinterpret_cast<std::uint8_t*>(const_cast<float*>(data));
    buffer_.type = halide_type_t(halide_type_float, 32);
    buffer_.dimensions = static_cast<std::int32_t>(rank);
    buffer_.dim = dims_;
  }
  KernelBuffer(const KernelBuffer&) = delete;
  KernelBuffer& operator=(const KernelBuffer&) = delete;
  void* argument() { return &buffer_; }

 private:
  halide_buffer_t buffer_{};
  halide_dimension_t dims_[rank]{};
};

// The residual where there is none: adding it changes no number, not even -0.
inline Picture nothing_to_add() {
  alignas(64) static constexpr std::array<float, 16> block = [] {
    std::array<float, 16> out{};
    out.fill(-0.0F);
    return out;
  }();
  return {const_cast<float*>(block.data()), 0, 0, 0};
}

}  // namespace touchstone
