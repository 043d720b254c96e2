// Geometry of a window of any rank that slides over an image, resolved for known shapes.
#pragma once

#include <optional>
#include <string_view>

#include "optimized/plan/analyzed_graph.h"
#include "reference/facts.h"

namespace touchstone::optimized {

// One item per spatial dimension, outermost first.
struct Sliding {
  Shape image, kernel, stride, dilation;
  Shape before, after;  // padding, negative where the image is cropped
  Shape out;            // output extents
};

// The window of a convolution or pool. Returns nullopt if a rule of the operator could be broken,
// or offsets could overflow: the reference decides.
std::optional<Sliding> sliding_of(const Facts& node, const Shape& image, const Shape& kernel);
// The window of a transposed convolution, which slides over the output: `image` has the extents of
// the input, `out` those of the output.
std::optional<Sliding> spreading_of(const Facts& node, const Shape& image, const Shape& kernel);

// True if the node is this operator of the standard's domain, and its inputs and first output are
// float32.
bool is_float_window(const AnalyzedGraph& graph, Index node, std::string_view op);

// A half-open range of indices.
struct Extent {
  Index low, high;
};
// Output coordinates in dimension d for which term t of the window lies in the image.
inline Extent inside(const Sliding& s, Index d, Index t) {
  const Index shift = subtract(multiply(t, s.dilation[d]), s.before[d]);
  return {clamp(ceil_div(negative(shift), s.stride[d]), 0, s.out[d]),
          clamp(ceil_div(subtract(s.image[d], shift), s.stride[d]), 0, s.out[d])};
}

}  // namespace touchstone::optimized
