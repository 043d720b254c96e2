// Halide's view (`halide_buffer_t`) of a kernel argument, and the call of a kernel through such
// views.
#pragma once

#include <HalideRuntime.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <span>

#include "backends/device.h"
#include "core/error.h"

namespace touchstone::backends {

struct HalideView {
  halide_buffer_t buffer{};
  std::array<halide_dimension_t, 4> dims{};

  halide_buffer_t* argument() {  // valid until the view is moved or destroyed
    buffer.dim = dims.data();
    return &buffer;
  }
  void set_axes(const std::vector<DeviceAxis>& axes) {
    buffer.type = halide_type_t(halide_type_float, 32);
    buffer.dimensions = static_cast<std::int32_t>(axes.size());
    if (axes.size() > dims.size()) BUG("a kernel's argument of so many axes");
    for (std::size_t k = 0; k < axes.size(); ++k) {
      constexpr Index most = std::numeric_limits<std::int32_t>::max();
      if (axes[k].extent > most || std::abs(axes[k].step) > most)
        BUG("an argument that reaches farther than 32 bits count");
      dims[k].extent = static_cast<std::int32_t>(axes[k].extent);
      dims[k].stride = static_cast<std::int32_t>(axes[k].step);
    }
  }
};

// Calls the kernel; see(argument) returns the HalideView of an argument that is a buffer.
template <class See>
void call_with_views(CompiledKernel kernel, std::span<const DeviceArgument> arguments, See see) {
  constexpr std::size_t most = 32;
  std::array<HalideView, most> views;
  std::array<void*, most> given{};
  if (arguments.size() > given.size()) BUG("a kernel of so many arguments");
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].buffer) {
      given[k] = arguments[k].value;
      continue;
    }
    views[k] = see(arguments[k]);
    given[k] = views[k].argument();
  }
  call_compiled(kernel, given.data());
}

}  // namespace touchstone::backends
