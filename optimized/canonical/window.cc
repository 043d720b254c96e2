// Reads the attributes that windows share, whatever slides.
#include "optimized/canonical/window.h"

#include <algorithm>
#include <string>

namespace touchstone {

Index integer_of(const Node& node, const std::string& name, Index otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const Index* held = std::get_if<Index>(&found->second.is);
  return held ? *held : otherwise;
}

Shape integers_of(const Node& node, const std::string& name) {
  Shape list;
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return list;
  if (const auto* held = std::get_if<std::vector<Index>>(&found->second.is)) {
    for (const Index each : *held) list.push_back(each);
  }
  return list;
}

Window window_of(const Node& node, const Shape& input, const Shape& output, Shape kernel) {
  if (kernel.empty()) kernel = integers_of(node, "kernel_shape");
  const Shape strides = integers_of(node, "strides"), dilations = integers_of(node, "dilations");
  const Shape pads = integers_of(node, "pads");
  std::string padding = "NOTSET";
  if (const auto found = node.attributes.find("auto_pad"); found != node.attributes.end()) {
    if (const auto* held = std::get_if<std::string>(&found->second.is)) padding = *held;
  }
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
      const Index reach =
          (window.out[d] - 1) * window.stride[d] + (window.kernel[d] - 1) * window.dilation[d] + 1;
      const Index whole = std::max<Index>(reach - window.in[d], 0);
      window.before[d] = padding == "SAME_UPPER" ? whole / 2 : whole - whole / 2;
      window.after[d] = whole - window.before[d];
    } else if (padding != "VALID" && !pads.empty()) {
      window.before[d] = pads[k];
      window.after[d] = pads[k + r];
    }
  }
  return window;
}

}  // namespace touchstone
