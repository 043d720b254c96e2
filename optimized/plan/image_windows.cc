// Selects convolutions for channel blocks by their channels, groups and windows.
#include "optimized/plan/image_windows.h"

#include <algorithm>
#include <cmath>

#include "optimized/kernels/grouped.h"
#include "optimized/plan/builder.h"
#include "optimized/problems/problem.h"
#include "optimized/problems/transposed.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index max_phases = 8;  // of a transposed convolution, along each side

bool fills_blocks(Index groups, const Shape& w) {
  const Index lanes = lanes_of(chosen_isa());
  return w[1] % lanes == 0 && w[0] / groups % lanes == 0;
}

bool groups_fit(Index groups, const Shape& x, const Shape& w) {
  if (groups == 1) return true;
  if (groups == x[1] && w[0] == groups && w[1] == 1) return true;  // depthwise
  return fills_blocks(groups, w) || Grouped::fits(chosen_isa(), groups, w[1], w[0] / groups);
}

// Explicit pads are required, since output_shape and auto_pad would move the output's origin.
bool is_in_phases(const Facts& node, const Window& w) {
  if (node.given("output_shape") || node.text("auto_pad", "NOTSET") != "NOTSET") return false;
  for (const int d : {0, 1}) {
    if (w.stride[d] > max_phases ||
        phases_of(w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.out[d]).empty())
      return false;
  }
  return true;
}

}  // namespace

bool all_finite(const Tensor& weights) {
  const float* const first = weights.data<float>();
  return std::all_of(first, first + weights.size(), [](float x) { return std::isfinite(x); });
}

bool is_near(const Window& w, const Shape& x, const Shape& made) {
  constexpr auto max = static_cast<double>(farthest);
  double in = static_cast<double>(std::max(x[1], made[1]) + 16), out = in;
  for (const int d : {0, 1}) {
    if (w.kernel[d] == 0) return false;  // a sum of no terms
    const auto reach = [&](Index count, Index step) {
      return static_cast<double>(count) * static_cast<double>(step);
    };
    const double windows = reach(w.out[d], w.stride[d]) + reach(w.kernel[d], w.dilation[d]);
    in *= static_cast<double>(w.pad_begin[d]) + static_cast<double>(w.in[d]) + windows;
    out *= static_cast<double>(w.out[d]) + windows;
  }
  return in <= max && out <= max;
}

std::optional<Window> window_in_blocks(const Facts& node, const Shape& x, const Tensor& weights,
                                       const Shape& made) {
  const Index groups = node.integer("group", 1);
  const Shape& w = weights.shape();
  if (!groups_fit(groups, x, w)) return std::nullopt;
  const Window whole = window_of(node, x, made, tail(w, 2));
  if (!is_near(whole, x, made)) return std::nullopt;
  Window window = whole;
  const bool is_direct = groups == 1 || fills_blocks(groups, w);
  skip_padding(window, is_direct);
  const bool leaves_out = window.kernel[0] < whole.kernel[0] ||
                          window.kernel[1] < whole.kernel[1] || window.skips[0] || window.skips[1];
  // A weight that is not finite makes NaN of padding.
  if (leaves_out && !all_finite(weights)) window = whole;
  const bool is_far = is_column(window) && !is_column_of_column(window);
  if (groups == 1 && (is_far || are_patches(window, w[1]))) return std::nullopt;
  return window;
}

std::optional<Window> window_in_phases(const Facts& node, const Shape& x, const Tensor& weights,
                                       const Shape& made) {
  if (node.integer("group", 1) != 1) return std::nullopt;
  const Window window = window_of(node, x, made, tail(weights.shape(), 2));
  // Few filters leave most lanes of a block idle, in each phase.
  const Index filters = weights.shape()[1], lanes = lanes_of(chosen_isa());
  const bool is_strided = window.stride[0] > 1 || window.stride[1] > 1;
  if (is_strided && 4 * filters <= lanes && !is_spread(window, filters, lanes)) return std::nullopt;
  // A phase multiplies zeros beyond the image too, which an infinite weight would turn into NaN.
  if (!is_near(window, x, made) || !is_in_phases(node, window) || !all_finite(weights))
    return std::nullopt;
  return window;
}

}  // namespace touchstone::optimized
