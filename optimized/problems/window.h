// Window of a convolution or pool: kernel extents, strides, dilations and padding, resolved for
// known shapes.
#pragma once

#include <vector>

#include "core/checked.h"
#include "optimized/problems/band.h"
#include "reference/facts.h"

namespace touchstone::optimized {

// Per spatial dimension, outermost first. For images of one spatial dimension the first has size 1.
struct Window {
  Index kernel[2]{1, 1}, stride[2]{1, 1}, dilation[2]{1, 1};
  Index pad_begin[2]{0, 0}, pad_end[2]{0, 0};  // padding begin and end
  Index in[2]{1, 1}, out[2]{1, 1};
  Index first_tap[2]{0, 0};     // of the weights; skip_padding() cuts off those before and after
  bool skips[2]{false, false};  // true: bands_of() are computed apart, and nothing reads padding

  // Extent from the first element of the first window to one past the last element of the last
  // window.
  Index reach(int d) const {
    return (Checked(out[d] - 1) * stride[d] + Checked(kernel[d] - 1) * dilation[d] + 1).value();
  }
  // Padding end that some window really reaches; never negative.
  Index past_end(int d) const {
    return std::max<Index>((Checked(reach(d)) - pad_begin[d] - in[d]).value(), 0);
  }
};

// Returns the window of a node whose input and output have shapes [N, C, spatial..] with one or two
// spatial dimensions. `kernel`: the spatial part of the weights' shape, or empty if the attribute
// kernel_shape gives it.
Window window_of(const Facts& node, const Shape& input, const Shape& output, Shape kernel);

// Divides the output of dimension d where a tap enters or leaves the image.
std::vector<Band> bands_of(const Window& window, int d);

// Cuts off taps that read padding alone, and sets `skips` where many of the others do. Only finite
// weights of such taps may be left out. `in_bands`: the convolution can compute bands apart.
void skip_padding(Window& window, bool in_bands);

// True for windows down a single column of points: kernels in blocks compute neighboring columns
// together, and would compute one.
inline bool is_column(const Window& w) {
  constexpr Index least_rows = 8;
  return w.out[1] == 1 && w.kernel[1] == 1 && w.kernel[0] > 1 && w.out[0] >= least_rows;
}

// True for such windows of images of one column: in either layout the image is also one row.
inline bool is_column_of_column(const Window& w) {
  return w.in[1] == 1 && w.out[1] == 1 && w.kernel[1] == 1 && w.pad_begin[1] == 0 &&
         w.past_end(1) == 0 && w.kernel[0] > 1 && w.out[0] > 1;
}
// Returns the window with its two dimensions exchanged.
Window turned(Window window);

// True for large windows that neither overlap nor read padding: a matmul of patches is faster than
// kernels in blocks.
inline bool are_patches(const Window& w, Index channels) {
  constexpr Index least_terms = 16, least_depth = 256;
  for (const int d : {0, 1}) {
    if (w.pad_begin[d] != 0 || w.past_end(d) > 0 || w.dilation[d] != 1) return false;
    if (w.stride[d] < w.kernel[d] && w.out[d] > 1) return false;
  }
  const Index terms = (Checked(w.kernel[0]) * w.kernel[1]).value();
  const Index depth = (Checked(terms) * channels).value();
  return terms >= least_terms && depth >= least_depth;
}

}  // namespace touchstone::optimized
