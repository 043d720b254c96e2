// Calls of kernels that Halide compiled ahead of time: wraps plain pointers as Halide buffers and
// rethrows its errors as Error.
#pragma once

#include <HalideRuntime.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/shape.h"
#include "optimized/kernels/kernel.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

// One kernel per instruction set, in the order of all_isas.
using CompiledSet = std::array<backends::CompiledKernel, all_isas.size()>;
#define TOUCHSTONE_DECLARE_KERNEL(name)                         \
  extern "C" int TOUCHSTONE_OF_ISA(name, sse41, _argv)(void**); \
  extern "C" int TOUCHSTONE_OF_ISA(name, avx2, _argv)(void**);  \
  extern "C" int TOUCHSTONE_OF_ISA(name, avx512, _argv)(void**)
#define TOUCHSTONE_KERNEL(name)                                                  \
  CompiledSet {                                                                  \
    TOUCHSTONE_OF_ISA(name, sse41, _argv), TOUCHSTONE_OF_ISA(name, avx2, _argv), \
        TOUCHSTONE_OF_ISA(name, avx512, _argv)                                   \
  }
inline backends::CompiledKernel of(const CompiledSet& set, Isa isa) {
  return set[static_cast<std::size_t>(isa)];
}

// Fills `dims`, innermost first. Throws Error (unsupported) if an element is farther from the first
// than 32 bits can express.
void fill_dimensions(halide_dimension_t* dims, const Index* extents, const Index* strides,
                     std::size_t rank);

struct Axis {
  Index extent, stride;  // in elements; `step` is the stride
};

// Buffer argument of a kernel: float32 data with its axes, innermost first. Does not own the data.
template <std::size_t rank>
class Strided {
 public:
  Strided(const float* data, const std::array<Axis, rank>& axes)
      : Strided(data, of_all(axes, &Axis::extent), of_all(axes, &Axis::stride)) {}
  Strided(const float* data, const std::array<Index, rank>& extents,
          const std::array<Index, rank>& strides) {
    fill_dimensions(dims_, extents.data(), strides.data(), rank);
    static constexpr float nothing = 0;  // Halide accepts no null pointer, even for zero elements
    const float* first =
        std::find(extents.begin(), extents.end(), 0) == extents.end() ? data : &nothing;
    buffer_.host = reinterpret_cast<std::uint8_t*>(const_cast<float*>(first));
    buffer_.type = halide_type_t(halide_type_float, 32);
    buffer_.dimensions = static_cast<std::int32_t>(rank);
    buffer_.dim = dims_;
  }
  Strided(const Strided&) = delete;
  Strided& operator=(const Strided&) = delete;
  void* argument() { return &buffer_; }

 private:
  static std::array<Index, rank> of_all(const std::array<Axis, rank>& axes, Index Axis::*what) {
    std::array<Index, rank> list;
    for (std::size_t k = 0; k < rank; ++k) list[k] = axes[k].*what;
    return list;
  }

  halide_buffer_t buffer_{};
  halide_dimension_t dims_[rank]{};
};

inline void call_compiled(backends::CompiledKernel kernel, std::initializer_list<void*> arguments) {
  backends::call_compiled(kernel, const_cast<void**>(arguments.begin()));
}

}  // namespace touchstone::optimized
