// Reads the windows of ConvInteger and QLinearConv by the rules of their definitions.
#include "optimized/lowering/integer_windows.h"

#include "reference/kernels/ConvInteger_10.h"
#include "reference/kernels/QLinearConv_10.h"

namespace touchstone::optimized {
namespace {

constexpr Places of_integers{.x = 0, .w = 1, .x_zero = 2, .w_zero = 3};
constexpr Places of_quantised{.x = 0,
                              .w = 3,
                              .x_zero = 2,
                              .w_zero = 5,
                              .x_scale = 1,
                              .w_scale = 4,
                              .y_scale = 6,
                              .y_zero = 7,
                              .bias = 8};

}  // namespace

const Places& places_of(const Node& node) {
  return node.signature->op == "ConvInteger" ? of_integers : of_quantised;
}

Windows windows_of(const Facts& facts, bool quantised) {
  const auto read = [](const auto& plan) {
    Windows w{plan.image,   plan.kernel, plan.spread, plan.step,   plan.before,
              plan.extents, plan.cg,     plan.mg,     plan.y_shape};
    if (w.image.empty()) {
      w.image = w.kernel = w.spread = w.step = w.extents = {1};
      w.before = {0};
    }
    return w;
  };
  Windows made = quantised ? read(kernels::QLinearConv_10<float>(facts))
                           : read(kernels::ConvInteger_10<float>(facts));
  // A stride or dilation that no window takes may be any number: it sizes memory otherwise.
  for (Index d = 0; d < made.image.size(); ++d) {
    if (made.extents[d] <= 1) made.step[d] = 1;
    if (made.kernel[d] <= 1) made.spread[d] = 1;
  }
  return made;
}

}  // namespace touchstone::optimized
