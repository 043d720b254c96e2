// The windows of convolutions and pools: what their attributes say once the shapes are known.
#pragma once

#include "core/checked.h"
#include "reference/facts.h"

namespace touchstone {

// Per spatial dimension, outermost first. Images of one dimension have a first one of size 1.
struct Window {
  Index kernel[2]{1, 1}, stride[2]{1, 1}, dilation[2]{1, 1};
  Index before[2]{0, 0}, after[2]{0, 0};  // padding
  Index in[2]{1, 1}, out[2]{1, 1};

  // From the first element of the first window to behind the last of the last one.
  Index reach(int d) const {
    return (Checked(out[d] - 1) * stride[d] + Checked(kernel[d] - 1) * dilation[d] + 1).value();
  }
  // Padding behind that some window reaches; never negative.
  Index behind(int d) const {
    return std::max<Index>((Checked(reach(d)) - before[d] - in[d]).value(), 0);
  }
};

// Of a node whose input and output have shapes [N, C, spatial..] with one or two spatial
// dimensions. `kernel`: the spatial part of the weights' shape, or empty where the node says it.
Window window_of(const Facts& node, const Shape& input, const Shape& output, Shape kernel);

}  // namespace touchstone
