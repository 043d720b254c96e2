// Reads the attributes that convolutions and pools have in common.
#include "optimized/problems/window.h"

#include <algorithm>
#include <string>

#include "core/checked.h"

namespace touchstone {

Window window_of(const Facts& node, const Shape& input, const Shape& output, Shape kernel) {
  if (kernel.empty()) kernel = node.integers("kernel_shape");
  const Shape strides = node.integers("strides"), dilations = node.integers("dilations");
  const Shape pads = node.integers("pads");
  const std::string padding = node.text("auto_pad", "NOTSET");
  Window window;
  const Index r = input.size() - 2;
  for (Index k = 0; k < r; ++k) {
    const Index d = k + 2 - r;
    window.kernel[d] = kernel[k];
    window.stride[d] = strides.empty() ? 1 : strides[k];
    window.dilation[d] = dilations.empty() ? 1 : dilations[k];
    window.in[d] = input[k + 2];
    window.out[d] = output[k + 2];
    if (padding == "SAME_UPPER" || padding == "SAME_LOWER") {
      const Index whole =
          std::max<Index>(subtract(window.reach(static_cast<int>(d)), window.in[d]), 0);
      window.pad_begin[d] = padding == "SAME_UPPER" ? whole / 2 : whole - whole / 2;
      window.pad_end[d] = whole - window.pad_begin[d];
    } else if (padding != "VALID" && !pads.empty()) {
      window.pad_begin[d] = pads[k];
      window.pad_end[d] = pads[k + r];
    }
  }
  return window;
}

}  // namespace touchstone
