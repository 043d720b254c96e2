// GridSample in float32: the taps of a point are found once, then summed in every channel.
#include <algorithm>
#include <cmath>

#include "optimized/kernels/gathered_sums.h"
#include "optimized/lowering/families.h"
#include "optimized/registry/isa.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index most_dimensions = 3, most_taps = 64;
constexpr Index largest_image = Index{1} << 24;  // floats hold all positions below
constexpr Index largest_plane = Index{1} << 31;
constexpr Index block = 64;  // points whose taps are found before they are summed

enum class Padding { zeros, border, reflection };

// An axis of the image, in the definition's arithmetic.
struct GridAxis {
  Index image = 0, stride = 0;
  bool aligned = false;
  Padding padding = Padding::zeros;
  float low = 0, span = 0;

  float folded(float p) const {
    const float far = std::abs(p - low), turn = 2 * span;
    const float rest = far - turn * std::floor(far / turn);
    return low + std::min(rest, turn - rest);
  }
  float placed(float p) const {
    const float last = static_cast<float>(image - 1);
    const bool past = p < low || p > low + span;
    if (padding == Padding::zeros) return std::clamp(p, -4.0F, static_cast<float>(image + 3));
    if (padding == Padding::border) return past ? std::clamp(p, 0.0F, last) : p;
    return span == 0 ? 0.0F : past ? folded(p) : p;
  }
  // The element of a tap, -1 for one outside of the image.
  Index near(float tap) const {
    if (padding == Padding::zeros) {
      const float at = std::floor(tap);
      return at >= 0 && at < static_cast<float>(image) ? static_cast<Index>(at) : -1;
    }
    if (padding == Padding::reflection) tap = span == 0 ? 0.0F : folded(tap);
    return static_cast<Index>(std::clamp(std::floor(tap), 0.0F, static_cast<float>(image - 1)));
  }
};

struct Tap {
  Index at;  // -1 for an element outside
  float share;
};

float cubic(float w) {
  if (w <= 1) return (1.25F * w - 2.25F) * w * w + 1;
  return ((3.75F - 0.75F * w) * w - 6) * w + 3;
}

// Taps of a block of points. Points that lack some, outside of the image, are summed again alone: a
// weight of 0 is no substitute beside infinity.
struct BlockTaps {
  std::array<std::int32_t, most_taps * block> at;
  std::array<float, most_taps * block> share;
  std::array<std::pair<Index, Index>, block> fewer;  // points that lack taps, and what they have
  std::size_t lacking = 0;

  void put(Index point, const Tap* taps, Index count, Index all) {
    if (count < all) fewer[lacking++] = {point, count};
    for (Index k = 0; k < all; ++k) {
      const auto place = static_cast<std::size_t>(k * block + point);
      at[place] = k < count ? static_cast<std::int32_t>(taps[k].at) : 0;
      share[place] = k < count ? taps[k].share : 0;
    }
  }
  void sum_lacking(const float* from, float* to) const {
    for (std::size_t n = 0; n < lacking; ++n) {
      const auto [point, count] = fewer[n];
      float made = 0;
      for (Index k = 0; k < count; ++k) {
        const auto place = static_cast<std::size_t>(k * block + point);
        made += from[at[place]] * share[place];
      }
      to[point] = made;
    }
  }
};

class GridSample : public TensorStep {
 public:
  GridSample(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "grid sample";
    kernel_class = KernelClass::resample;
    const Facts facts = fact().attributes();
    const bool first = facts.signature().since < 20;
    const std::string mode = facts.text("mode", first ? "bilinear" : "linear");
    const std::string padding = facts.text("padding_mode", "zeros");
    taps_ = mode == "nearest"                         ? 1
            : mode == (first ? "bilinear" : "linear") ? 2
            : mode == (first ? "bicubic" : "cubic")   ? 4
                                                      : 0;
    padding_ = padding == "border"       ? Padding::border
               : padding == "reflection" ? Padding::reflection
                                         : Padding::zeros;
    known_ = taps_ > 0 && (padding_ != Padding::zeros || padding == "zeros");
    aligned_ = facts.integer("align_corners") != 0;
  }

  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &grid = input(state, 1);
    if (!fits(x, grid)) return run_on_reference(state);
    const Index r = x.shape().size() - 2, channels = x.shape()[1];
    Shape shape = head(x.shape(), 2);
    for (Index d = 0; d < r; ++d) shape.push_back(grid.shape()[1 + d]);
    Tensor& y = output(state, 0, Type::float32, shape);
    if (y.size() == 0) return;

    std::array<GridAxis, most_dimensions> axes;
    const IndexVector strides = dense_strides(x.shape());
    for (Index d = 0; d < r; ++d) {
      const auto image = static_cast<float>(x.shape()[2 + d]);
      axes[static_cast<std::size_t>(d)] = {
          x.shape()[2 + d], strides[2 + d],          aligned_,
          padding_,         aligned_ ? 0.0F : -0.5F, aligned_ ? image - 1 : image};
    }
    const Index points = count(tail(shape, 2)), plane = strides[1];
    const Index parts = std::min(points, parts_for(state.pool.size()));
    const Index some = (points + parts - 1) / parts, batches = shape[0];
    const double work = static_cast<double>(y.size()) * static_cast<double>(taps_ * taps_);
    Index all = 1;  // taps of a point inside of the image
    for (Index d = 0; d < r; ++d) all *= taps_;
    state.each(batches * parts, work, [&](Index part, Index) {
      const Index batch = part / parts;
      Index first = std::min(part % parts * some, points);
      const Index end = std::min(first + some, points);
      const float* const at = grid.data<float>() + batch * points * r;
      const float* const image = x.data<float>() + batch * channels * plane;
      float* const to = y.data<float>() + batch * channels * points;
      BlockTaps taps;
      std::array<Tap, most_taps> of_point;
      for (; first < end; first += block) {
        const Index n = std::min(block, end - first);
        taps.lacking = 0;
        for (Index k = 0; k < n; ++k) {
          const Index kept = taps_of(axes.data(), r, at + (first + k) * r, of_point.data());
          taps.put(k, of_point.data(), kept, all);
        }
        const GatheredTaps gathered{taps.at.data(), taps.share.data(), all, block, n};
        for (Index c = 0; c < channels; ++c) {
          const float* const from = image + c * plane;
          float* const made = to + c * points + first;
          gather_(gathered, from, made);
          taps.sum_lacking(from, made);
        }
      }
    });
  }

 private:
  bool fits(const Tensor& x, const Tensor& grid) const {
    if (!known_ || x.type() != Type::float32 || grid.type() != Type::float32) return false;
    const Shape &image = x.shape(), &g = grid.shape();
    const Index rank = image.size(), r = rank - 2;
    if (r < 1 || r > most_dimensions || g.size() != rank || g[0] != image[0] || g.back() != r)
      return false;
    if (fact().attributes().signature().since < 20 && r != 2) return false;
    for (Index d = 0; d < r; ++d) {
      if (image[2 + d] == 0 || image[2 + d] >= largest_image) return false;
    }
    if (count(tail(image, 2)) >= largest_plane) return false;
    // The reference refuses a position that is no number, such as infinity times a span of zero.
    // It also reflects far positions; others are clamped, in the definition's arithmetic.
    bool near = padding_ == Padding::reflection;
    for (Index d = 0; d < r; ++d) near = near || (aligned_ && image[2 + d] == 1);
    const float* const first = grid.data<float>();
    return std::all_of(first, first + grid.size(),
                       [&](float v) { return near ? std::abs(v) < 1e6F : !std::isnan(v); });
  }

  // Writes the elements that a point is made of, and their weights, without those outside.
  Index taps_of(const GridAxis* axes, Index r, const float* grid, Tap* taps) const {
    Index n = 1;
    taps[0] = {0, 1};
    for (Index d = 0; d < r; ++d) {
      const GridAxis& axis = axes[d];
      const float g = grid[r - 1 - d];
      const float meant = aligned_ ? (g + 1) / 2 * axis.span : ((g + 1) * axis.span - 1) / 2;
      const float place = axis.placed(taps_ == 1 ? std::nearbyint(meant) : meant);
      const float cell = std::floor(place);
      std::array<Tap, 4> own;
      Index kept = 0;
      for (Index t = 0; t < taps_; ++t) {
        const float step = static_cast<float>(taps_ == 4 ? t - 1 : t);
        const float w = std::abs(place - cell - step);
        const float share = taps_ == 1 ? 1.0F : taps_ == 2 ? 1 - w : cubic(w);
        const Index at = axis.near(cell + step);
        if (at >= 0) own[static_cast<std::size_t>(kept++)] = {at * axis.stride, share};
      }
      // Each tap so far is combined with each of this axis.
      for (Index k = n - 1; k >= 0; --k) {
        for (Index t = kept - 1; t >= 0; --t) {
          const Tap& mine = own[static_cast<std::size_t>(t)];
          taps[k * kept + t] = {taps[k].at + mine.at, taps[k].share * mine.share};
        }
      }
      n *= kept;
    }
    return n;
  }

  const GatherKernel gather_ = BY_ISA(chosen_isa(), gathered_sums);
  Index taps_ = 1;
  Padding padding_ = Padding::zeros;
  bool aligned_ = false, known_ = true;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "GridSample" &&
         graph.value(fact.inputs[0]).is(Type::float32) &&
         graph.value(fact.inputs[1]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<GridSample>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily grid_sample_family{"grid sample", KernelClass::resample, takes, step};

}  // namespace touchstone::optimized
