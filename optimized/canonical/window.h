// The windows of convolutions and pools: what their attributes say once the shapes are known.
#pragma once

#include "core/shape.h"
#include "reference/facts.h"

namespace touchstone {

// Per spatial dimension, outermost first. Images of one dimension have a first one of size 1.
struct Window {
  Index kernel[2]{1, 1}, stride[2]{1, 1}, dilation[2]{1, 1};
  Index before[2]{0, 0}, after[2]{0, 0};  // padding
  Index in[2]{1, 1}, out[2]{1, 1};

  // Padding behind that some window reaches; never negative.
  Index behind(int d) const {
    const Index reach = (out[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
    return reach > before[d] + in[d] ? reach - before[d] - in[d] : 0;
  }
};

// Of a node whose input and output have shapes [N, C, spatial..] with one or two spatial
// dimensions. `kernel`: the spatial part of the weights' shape, or empty where the node says it.
Window window_of(const Facts& node, const Shape& input, const Shape& output, Shape kernel);

}  // namespace touchstone
