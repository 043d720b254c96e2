// RoiAlign in float32. Means are sums over the rows of a rectangle, then over its columns, with the
// weights of all points of a cell merged.
#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "optimized/kernels/resample.h"
#include "optimized/lowering/families.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {
namespace {

constexpr Index most_points = 1024;  // of a cell, along each axis

// One axis of a rectangle, in the definition's arithmetic.
struct Side {
  float begin = 0, width = 0, points = 0;
  Index image = 0;

  Index samples() const { return std::max(static_cast<Index>(std::floor(points)), Index{0}); }
  float place(Index cell, Index sample) const {
    return begin + static_cast<float>(cell) * width +
           (static_cast<float>(sample) + 0.5F) * width / std::max(points, 1.0F);
  }
  bool beyond(float place) const { return place < -1 || place > static_cast<float>(image); }
};

// The pixels on both sides of a place, and their weights.
struct Pair {
  CellSums::Tap taps[2];
  Pair(const Side& side, float place) {
    const float spot = std::min(std::max(place, 0.0F), static_cast<float>(side.image - 1));
    const float low = std::floor(spot), rest = spot - low;
    const auto at = static_cast<std::int32_t>(low);
    taps[0] = {at, 1 - rest};
    taps[1] = {std::min(at + 1, static_cast<std::int32_t>(side.image - 1)), rest};
  }
};

// A mean in the definition's order, which weighs infinities by zero where merged taps do not.
float mean_of(const Side& down, const Side& across, const float* image, Index p, Index q) {
  float sum = 0;
  for (Index s = 0; s < down.samples(); ++s) {
    const float y = down.place(p, s);
    if (down.beyond(y)) continue;
    const Pair rows(down, y);
    for (Index t = 0; t < across.samples(); ++t) {
      charge_work(1);
      const float x = across.place(q, t);
      if (across.beyond(x)) continue;
      const Pair columns(across, x);
      for (const CellSums::Tap& a : rows.taps) {
        for (const CellSums::Tap& b : columns.taps)
          sum += a.share * b.share * image[a.at * across.image + b.at];
      }
      if (std::isnan(sum)) return sum;
    }
  }
  return sum / std::max(down.points * across.points, 1.0F);
}

// The taps of each cell along one axis, in memory of the run.
struct Taps {
  CellSums::Tap* taps;
  std::int32_t* first;
  std::int32_t low = 0, high = 0;  // the pixels read

  void fill(const Side& side, Index cells) {
    std::int32_t count = 0;
    low = static_cast<std::int32_t>(side.image), high = 0;
    for (Index p = 0; p < cells; ++p) {
      first[p] = count;
      charge_work(side.samples());
      for (Index s = 0; s < side.samples(); ++s) {
        const float place = side.place(p, s);
        if (side.beyond(place)) continue;
        for (const CellSums::Tap tap : Pair(side, place).taps) {
          // Places rise or fall steadily, so that an equal pixel is among the last three.
          const auto same = std::find_if(taps + std::max(first[p], count - 3), taps + count,
                                         [&](const auto& other) { return other.at == tap.at; });
          if (same == taps + count) {
            taps[count++] = tap;
          } else {
            same->share += tap.share;
          }
          low = std::min(low, tap.at), high = std::max(high, tap.at + 1);
        }
      }
    }
    first[cells] = count;
    low = std::min(low, high);
  }
};

class RoiAlign : public TensorStep {
 public:
  RoiAlign(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "roi align " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::resample;
    const Facts facts = fact().attributes();
    rows_ = facts.integer("output_height", 1);
    columns_ = facts.integer("output_width", 1);
    ratio_ = facts.integer("sampling_ratio", 0);
    scale_ = facts.number("spatial_scale", 1);
    const std::string mode = facts.text("mode", "avg");
    const std::string grid = facts.signature().since < 16
                                 ? "output_half_pixel"
                                 : facts.text("coordinate_transformation_mode", "half_pixel");
    mean_ = mode == "avg";
    half_ = grid == "half_pixel";
    known_ = (mean_ || mode == "max") && (half_ || grid == "output_half_pixel") && ratio_ >= 0;
  }

  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &rois = input(state, 1), &batches = input(state, 2);
    if (!fits(x, rois, batches)) return run_on_reference(state);
    const Index many = rois.shape()[0], channels = x.shape()[1];
    Tensor sides(Type::float32, Shape{many, 6});  // begin, width and points of both axes
    const Index points = place_all(x, rois, sides);
    if (points < 0) return run_on_reference(state);
    Tensor& y = output(state, 0, Type::float32, Shape{many, channels, rows_, columns_});
    if (y.size() == 0) return;
    // Memory of each thread: the taps of both axes, and a line of the image.
    const Index cells = std::max(rows_, columns_), width = x.shape()[3];
    const Index taps = 2 * points * cells, each = 2 * (2 * taps + cells + 1) + width;
    Tensor scratch(Type::int32, Shape{state.pool.size(), each});
    const Index blocks = std::max<Index>(1, std::min(channels / 16, 4 * state.pool.size() / many));
    const Index some = (channels + blocks - 1) / blocks;
    const double work = static_cast<double>(y.size()) * static_cast<double>(points) * 4;
    state.each(many * blocks, work, [&](Index part, Index thread) {
      const Index roi = part / blocks, first = std::min(part % blocks * some, channels);
      std::int32_t* at = scratch.data<std::int32_t>() + thread * each;
      Taps axes[2];
      for (Taps& axis : axes) {
        axis.taps = reinterpret_cast<CellSums::Tap*>(at), at += 2 * taps;
        axis.first = at, at += cells + 1;
      }
      const Index plane = x.shape()[2] * width;
      const Index image = batches.data<std::int64_t>()[roi];
      const float* const from = x.data<float>() + (image * channels + first) * plane;
      float* const to = y.data<float>() + (roi * channels + first) * rows_ * columns_;
      const Side down = side(x, sides, roi, 0), across = side(x, sides, roi, 1);
      const Index block = std::min(some, channels - first);
      if (!mean_) return largest(down, across, from, plane, block, to);
      axes[0].fill(down, rows_);
      axes[1].fill(across, columns_);
      CellSums sums{axes[0].taps,
                    axes[1].taps,
                    axes[0].first,
                    axes[1].first,
                    rows_,
                    columns_,
                    axes[1].low,
                    axes[1].high,
                    width,
                    plane,
                    std::max(down.points * across.points, 1.0F)};
      auto* const line = reinterpret_cast<float*>(at);
      const Index span = axes[1].high - axes[1].low, column_taps = axes[1].first[columns_];
      // A call of the kernel sums a channel, or a row of a large one.
      constexpr Index large = Index{1} << 20;
      sums.rows = axes[0].first[rows_] * span + rows_ * column_taps > large ? 1 : rows_;
      for (Index c = 0; c < block; ++c) {
        const float* const channel = from + c * plane;
        float* const cells_of = to + c * rows_ * columns_;
        for (Index p = 0; p < rows_; p += sums.rows) {
          sums.first_row_tap = axes[0].first + p;
          const Index row_taps = axes[0].first[p + sums.rows] - axes[0].first[p];
          charge_work((row_taps + sums.rows) * span + sums.rows * column_taps);
          resampling().cells(sums, channel, 1, line, cells_of + p * columns_);
        }
        for (Index k = 0; k < rows_ * columns_; ++k) {
          if (!std::isfinite(cells_of[k]))
            cells_of[k] = mean_of(down, across, channel, k / columns_, k % columns_);
        }
      }
    });
  }

 private:
  bool fits(const Tensor& x, const Tensor& rois, const Tensor& batches) const {
    if (!known_ || x.type() != Type::float32 || rois.type() != Type::float32) return false;
    if (batches.type() != Type::int64 || x.shape().size() != 4 || rois.shape().size() != 2)
      return false;
    if (rois.shape()[1] != 4 || batches.shape() != Shape{rois.shape()[0]}) return false;
    const auto* const first = batches.data<std::int64_t>();
    if (!std::all_of(first, first + batches.size(),
                     [&](std::int64_t k) { return k >= 0 && k < x.shape()[0]; }))
      return false;
    constexpr Index far = Index{1} << 24;  // floats hold all pixels below
    constexpr Index most_cells = Index{1} << 12;
    return x.shape()[2] > 0 && x.shape()[3] > 0 && x.shape()[2] < far && x.shape()[3] < far &&
           rois.shape()[0] > 0 && rows_ >= 0 && columns_ >= 0 && rows_ <= most_cells &&
           columns_ <= most_cells;
  }

  static Side side(const Tensor& x, const Tensor& sides, Index roi, Index d) {
    const float* const held = sides.data<float>() + roi * 6 + d * 3;
    return {held[0], held[1], held[2], x.shape()[2 + d]};
  }

  // Computes the sides of all rectangles. Returns the largest number of points of a cell along an
  // axis, -1 if the reference must decide.
  Index place_all(const Tensor& x, const Tensor& rois, Tensor& sides) const {
    Index most = 0;
    const float shift = half_ ? 0.5F : 0.0F;
    for (Index r = 0; r < rois.shape()[0]; ++r) {
      for (const Index d : {0, 1}) {
        const float* const roi = rois.data<float>() + r * 4;
        const float begin = roi[1 - d] * scale_ - shift;
        const float length = roi[3 - d] * scale_ - shift - begin;
        const auto cells = static_cast<float>(d == 0 ? rows_ : columns_);
        const float width = (half_ ? length : std::max(length, 1.0F)) / cells;
        const float points = ratio_ > 0 ? static_cast<float>(ratio_) : std::ceil(width);
        float* const held = sides.data<float>() + r * 6 + d * 3;
        held[0] = begin, held[1] = width, held[2] = points;
        constexpr float far = 1e9F;
        if (!(std::abs(begin) < far && std::abs(width) < far && points <= most_points)) return -1;
        most = std::max(most, side(x, sides, r, d).samples());
      }
    }
    return most;
  }

  // Maxima over the points of a cell.
  void largest(const Side& down, const Side& across, const float* from, Index plane, Index channels,
               float* to) const {
    const Index width = across.image;
    for (Index p = 0; p < rows_; ++p) {
      for (Index q = 0; q < columns_; ++q) {
        for (Index c = 0; c < channels; ++c) {
          const float* const image = from + c * plane;
          charge_work(down.samples() * across.samples());
          float most = 0;
          bool any = false;
          for (Index s = 0; s < down.samples(); ++s) {
            for (Index t = 0; t < across.samples(); ++t) {
              const float y = down.place(p, s), x = across.place(q, t);
              float sample = 0;
              if (!down.beyond(y) && !across.beyond(x)) {
                for (const CellSums::Tap& a : Pair(down, y).taps) {
                  for (const CellSums::Tap& b : Pair(across, x).taps)
                    sample += a.share * b.share * image[a.at * width + b.at];
                }
              }
              if (!any || most < sample || sample != sample) most = sample;
              any = true;
            }
          }
          to[(c * rows_ + p) * columns_ + q] = most;
        }
      }
    }
  }

  Index rows_ = 1, columns_ = 1, ratio_ = 0;
  float scale_ = 1;
  bool mean_ = true, half_ = false, known_ = true;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "RoiAlign" &&
         graph.value(fact.inputs[0]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<RoiAlign>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily roi_align_family{"roi align", KernelClass::resample, takes, step};

}  // namespace touchstone::optimized
