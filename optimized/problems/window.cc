// Reads the attributes that convolutions and pools have in common.
#include "optimized/problems/window.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/checked.h"
#include "reference/lists.h"

namespace touchstone::optimized {

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

Window turned(Window w) {
  for (auto* each :
       {&w.kernel, &w.stride, &w.dilation, &w.pad_begin, &w.pad_end, &w.in, &w.out, &w.first_tap})
    std::swap((*each)[0], (*each)[1]);
  std::swap(w.skips[0], w.skips[1]);
  return w;
}

namespace {

struct Range {
  Index low, high;
};

// Output coordinates for which tap t reads the image.
Range inside(const Window& w, int d, Index t) {
  const Index shift = subtract(multiply(t, w.dilation[d]), w.pad_begin[d]);
  return {std::clamp<Index>(ceil_div(negative(shift), w.stride[d]), 0, w.out[d]),
          std::clamp<Index>(ceil_div(subtract(w.in[d], shift), w.stride[d]), 0, w.out[d])};
}
bool is_padding(const Window& w, int d, Index t) {
  const Range range = inside(w, d, t);
  return range.low >= range.high;
}

// True if computing bands apart pays: many products are left out. Narrow bands of columns make
// small tiles, which read weights more often.
bool pays(const Window& w, int d) {
  constexpr double most_rows = 0.9, most_columns = 0.65;  // shares of products that are left
  const std::vector<Band> bands = bands_of(w, d);
  Index products = 0;
  for (const Band& band : bands) {
    if (band.taps == 0) return false;
    products = add(products, multiply(band.count, band.taps));
  }
  const double share =
      static_cast<double>(products) / static_cast<double>(multiply(w.out[d], w.kernel[d]));
  return share <= (d == 0 ? most_rows : most_columns);
}

}  // namespace

std::vector<Band> bands_of(const Window& w, int d) {
  std::vector<Index> cuts{0, w.out[d]};
  for (Index t = 0; t < w.kernel[d]; ++t) {
    const Range range = inside(w, d, t);
    cuts.insert(cuts.end(), {range.low, range.high});
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Band> bands;
  Index first = 0;
  for (const Index cut : cuts) {
    if (cut == first) continue;
    Band band{first, subtract(cut, first)};
    for (Index t = 0; t < w.kernel[d]; ++t) {
      const Range range = inside(w, d, t);
      if (range.low > band.first || range.high <= band.first) continue;
      if (band.taps == 0) band.first_tap = t;
      ++band.taps;
    }
    bands.push_back(band);
    first = cut;
  }
  return bands;
}

void skip_padding(Window& w, bool in_bands) {
  constexpr Index most_taps = 32;
  for (const int d : {0, 1}) {
    Index end = w.kernel[d];
    while (add(w.first_tap[d], 1) < end && is_padding(w, d, w.first_tap[d])) ++w.first_tap[d];
    while (add(w.first_tap[d], 1) < end && is_padding(w, d, subtract(end, 1))) --end;
    w.kernel[d] = subtract(end, w.first_tap[d]);
    w.pad_begin[d] = subtract(w.pad_begin[d], multiply(w.first_tap[d], w.dilation[d]));
    w.skips[d] =
        in_bands && w.dilation[d] > 1 && w.kernel[d] > 1 && w.kernel[d] <= most_taps && pays(w, d);
  }
}

}  // namespace touchstone::optimized
