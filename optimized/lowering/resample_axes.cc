// Positions and weights of Resize and Upsample, in the definition's arithmetic. Scales, extents and
// taps are those of the generated kernels.
#include "optimized/lowering/resample_axes.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/budget.h"
#include "core/limits.h"
#include "reference/kernel.h"
#include "reference/kernels/Resize_10.h"
#include "reference/kernels/Resize_11.h"
#include "reference/kernels/Resize_13.h"
#include "reference/kernels/Resize_18.h"
#include "reference/kernels/Resize_19.h"
#include "reference/kernels/Upsample_1.h"
#include "reference/kernels/Upsample_7.h"
#include "reference/kernels/Upsample_9.h"

namespace touchstone::optimized {
namespace {

constexpr Index farthest_element = std::numeric_limits<std::int32_t>::max();

enum class Grid {
  half_pixel,
  half_pixel_symmetric,
  tf_half_pixel_for_nn,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_crop_and_resize
};
enum class Nearest { round_prefer_floor, round_prefer_ceil, floor, ceil };

template <std::size_t n>
std::optional<std::size_t> place_of(std::string_view name,
                                    const std::array<std::string_view, n>& names) {
  for (std::size_t k = 0; k < n; ++k) {
    if (names[k] == name) return k;
  }
  return std::nullopt;
}

template <class Q>
Q cubic(Q a, Q w) {
  if (w <= 1) return ((a + 2) * w - (a + 3)) * w * w + 1;
  return w < 2 ? ((a * w - 5 * a) * w + 8 * a) * w - 4 * a : Q(0);
}

template <class P>
constexpr bool has_grid = requires(const P& plan) {
  plan.coordinate_transformation_mode;
};
template <class P>
constexpr bool has_antialias = requires(const P& plan) {
  plan.antialias;
};

// One axis of a version with a choice of grids.
template <class Q, class P>
class GridAxis {
 public:
  GridAxis(const P& plan, Grid grid, Nearest nearest, Index d, Index in)
      : plan_(plan),
        grid_(grid),
        nearest_(nearest),
        d_(d),
        in_(in),
        out_(plan.extents[d]),
        still_(plan.still[d] == 1),
        scale_(item(plan.scale, d)),
        width_(item(plan.width, d)),
        from_(item(plan.from, d)),
        till_(item(plan.till, d)) {}

  Index taps() const { return plan_.taps[d_]; }

  Q position(Index x) const {
    const Q at = real<Q>(x), half = Q(0.5), size = real<Q>(in_), last = real<Q>(in_ - 1);
    if (still_) return at;
    switch (grid_) {
      case Grid::half_pixel:
        return (at + half) / scale_ - half;
      case Grid::half_pixel_symmetric:
        return size / 2 * (1 - real<Q>(out_) / width_) + (at + half) / scale_ - half;
      case Grid::tf_half_pixel_for_nn:
        return (at + half) / scale_;
      case Grid::pytorch_half_pixel:
        return out_ > 1 ? (at + half) / scale_ - half : Q(0);
      case Grid::align_corners:
        return out_ > 1 ? at * last / (width_ - 1) : Q(0);
      case Grid::asymmetric:
        return at / scale_;
      case Grid::tf_crop_and_resize:
        return out_ > 1 ? from_ * last + at * (till_ - from_) * last / (width_ - 1)
                        : half * (from_ + till_) * last;
    }
    BUG("a grid");
  }
  bool beyond(Index x) const {
    const Q at = position(x);
    return at < 0 || at > real<Q>(in_ - 1);
  }

  Index nearest(Index x) const {
    const Q at = position(x), half = Q(0.5);
    switch (nearest_) {
      case Nearest::round_prefer_floor:
        return ceil_index(at - half);
      case Nearest::round_prefer_ceil:
        return floor_index(at + half);
      case Nearest::floor:
        return floor_index(at);
      case Nearest::ceil:
        return ceil_index(at);
    }
    BUG("a way to round");
  }

  // Calls take(t, element, weight) for each tap.
  template <class F>
  void weigh(Index x, F take) const {
    const Q at = position(x), cell = std::ceil(at) - 1, a = Q(plan_.a);
    const Index first = plan_.first[d_], start = add(floor_index(cell), first), n = taps();
    Q shrink = 1;
    bool shares = plan_.exclude_outside != 0;
    if constexpr (has_antialias<P>) {
      shrink = Q(item(plan_.shrink, d_));
      shares = shares || plan_.antialias != 0;
    }
    const auto raw = [&](Index t) {
      const Q place = cell + real<Q>(first + t);
      if (plan_.exclude_outside != 0 && (place < 0 || place > real<Q>(in_ - 1))) return Q(0);
      const Q w = std::abs((real<Q>(first + t) - (at - cell)) * shrink);
      return plan_.mode == "linear" ? prim::maximum(1 - w, Q(0)) : cubic(a, w);
    };
    Q all = 0;
    for (Index t = 0; shares && t < n; ++t) all += raw(t);
    for (Index t = 0; t < n; ++t) {
      const Q weight = raw(t);
      take(t, add(start, t), !shares ? weight : all == 0 ? Q(0) : weight / all);
    }
  }

 private:
  const P& plan_;
  const Grid grid_;
  const Nearest nearest_;
  const Index d_, in_, out_;
  const bool still_;
  const Q scale_, width_, from_, till_;
};

// One axis of a version with one grid.
template <class Q, class P>
class PlainAxis {
 public:
  PlainAxis(const P& plan, Index d) : plan_(plan), d_(d), factor_(item(plan.factor, d)) {}

  Index taps() const { return plan_.taps[d_]; }
  Index nearest(Index x) const {
    const Q at = real<Q>(x) / factor_;
    return resizes && factor_ < 1 ? ceil_index(at) : floor_index(at);
  }
  template <class F>
  void weigh(Index x, F take) const {
    const Q at = real<Q>(x) / factor_, rest = at - std::floor(at);
    const Index start = floor_index(at);
    take(0, start, 1 - rest);
    if (taps() > 1) take(1, add(start, 1), rest);
  }

 private:
  static constexpr bool resizes = std::is_same_v<P, kernels::Resize_10<float>>;
  const P& plan_;
  const Index d_;
  const Q factor_;
};

// Fills the tables of an axis.
template <class Q, class A>
void fill(ResampledAxis& made, const A& axis, bool nearest) {
  made.taps = nearest ? 1 : axis.taps();
  made.index = Tensor(Type::int32, Shape{made.taps, made.out});
  auto* const index = made.index.data<std::int32_t>();
  const auto inside = [&](Index at) {
    return static_cast<std::int32_t>(clamp(at, Index{0}, made.in - 1));
  };
  made.kept = made.in == made.out && made.taps == 1;
  if (nearest) {
    for (const Index x : Steps(0, made.out)) {
      index[x] = inside(axis.nearest(x));
      made.kept = made.kept && index[x] == x;
    }
    return;
  }
  made.share = Tensor(type_of<Q>, Shape{made.taps, made.out});
  Q* const share = made.share.template data<Q>();
  for (Index x = 0; x < made.out; ++x) {
    charge_work(made.taps);
    axis.weigh(x, [&](Index t, Index at, Q weight) {
      index[t * made.out + x] = inside(at);
      share[t * made.out + x] = weight;
    });
    made.kept = made.kept && index[x] == x && share[x] == 1;
  }
}

template <class Q, class P>
std::optional<ResampledAxes> axes_of(const Facts& facts) {
  const P plan(facts);
  const Shape& x = known_shape(facts.input(0));
  ResampledAxes made;
  made.nearest = plan.mode == "nearest";
  made.shape = plan.extents;
  check_size(facts.input(0).type, made.shape, current_limits());
  if (count(x) == 0 || count(made.shape) == 0) return std::nullopt;
  std::optional<std::size_t> grid = 0, nearest = 0;
  bool crops = false;
  if constexpr (has_grid<P>) {
    grid = place_of<7>(plan.coordinate_transformation_mode,
                       {"half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn",
                        "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"});
    nearest = place_of<4>(plan.nearest_mode,
                          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    // Version 11 alone has tf_half_pixel_for_nn; half_pixel_symmetric came with version 19.
    const int since = facts.signature().since;
    if (grid == static_cast<std::size_t>(Grid::half_pixel_symmetric) && since < 19)
      return std::nullopt;
    if (grid == static_cast<std::size_t>(Grid::tf_half_pixel_for_nn) && since != 11)
      return std::nullopt;
    crops = plan.crop;
    made.extrapolation = facts.number("extrapolation_value");
  }
  if (!grid || !nearest) return std::nullopt;
  for (Index d = 0; d < x.size(); ++d) {
    ResampledAxis axis;
    axis.in = x[d];
    axis.out = made.shape[d];
    if (axis.in > farthest_element || axis.out > farthest_element) return std::nullopt;
    if constexpr (has_grid<P>) {
      const GridAxis<Q, P> given(plan, Grid(*grid), Nearest(*nearest), d, axis.in);
      fill<Q>(axis, given, made.nearest);
      if (crops) {
        axis.beyond = Tensor(Type::boolean, Shape{axis.out});
        for (const Index k : Steps(0, axis.out)) axis.beyond.data<bool>()[k] = given.beyond(k);
      }
    } else {
      fill<Q>(axis, PlainAxis<Q, P>(plan, d), made.nearest);
    }
    made.axes.push_back(std::move(axis));
  }
  return made;
}

template <class Q>
std::optional<ResampledAxes> axes_of_version(const Facts& facts) {
  const int since = facts.signature().since;
  if (facts.signature().op == "Upsample") {
    if (since == 1) return axes_of<Q, kernels::Upsample_1<float>>(facts);
    if (since == 7) return axes_of<Q, kernels::Upsample_7<float>>(facts);
    if (since == 9) return axes_of<Q, kernels::Upsample_9<float>>(facts);
    return std::nullopt;
  }
  if (since == 10) return axes_of<Q, kernels::Resize_10<float>>(facts);
  if (since == 11) return axes_of<Q, kernels::Resize_11<float>>(facts);
  if (since == 13) return axes_of<Q, kernels::Resize_13<float>>(facts);
  if (since == 18) return axes_of<Q, kernels::Resize_18<float>>(facts);
  if (since == 19) return axes_of<Q, kernels::Resize_19<float>>(facts);
  return std::nullopt;
}

}  // namespace

std::optional<ResampledAxes> resampled_axes(const Facts& facts, Type real) {
  return real == Type::float64 ? axes_of_version<double>(facts) : axes_of_version<float>(facts);
}

}  // namespace touchstone::optimized
