// MaxRoiPool in float32: the pixels of each cell are found once for all channels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/budget.h"
#include "core/checked.h"
#include "core/placement.h"
#include "optimized/lowering/families.h"

namespace touchstone::optimized {
namespace {

struct Range {
  Index low, high;
};

class MaxRoiPool : public TensorStep {
 public:
  MaxRoiPool(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "max roi pool";
    kernel_class = KernelClass::pool;
    pooled_ = fact().attributes().integers("pooled_shape");
    scale_ = fact().attributes().number("spatial_scale", 1);
  }

  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &rois = input(state, 1);
    if (!fits(x.shape(), rois.shape()) || !place_all(x.shape(), rois))
      return run_on_reference(state);
    const Index many = rois.shape()[0], channels = x.shape()[1], cells = pooled_[0] * pooled_[1];
    Tensor& y = output(state, 0, Type::float32, Shape{many, channels, pooled_[0], pooled_[1]});
    if (y.size() == 0) return;
    const Index plane = x.shape()[2] * x.shape()[3];
    const double work = static_cast<double>(many * channels) * static_cast<double>(plane);
    const Index parts = std::min(many * channels, state.parts(work));
    state.each(parts, work, [&](Index part, Index) {
      const Index end = many * channels * (part + 1) / parts;
      for (Index k = many * channels * part / parts; k < end; ++k) {
        const Index roi = k / channels;
        const Index image = images_[static_cast<std::size_t>(roi)] * channels + k % channels;
        pool(x.data<float>() + image * plane, x.shape()[3],
             ranges_.data() + roi * (pooled_[0] + pooled_[1]), y.data<float>() + k * cells);
      }
    });
  }

 private:
  bool fits(const Shape& x, const Shape& rois) const {
    constexpr Index far = Index{1} << 24;  // floats hold all pixels below
    if (pooled_.size() != 2 || x.size() != 4 || rois.size() != 2 || rois[1] != 5) return false;
    return x[2] < far && x[3] < far && pooled_[0] > 0 && pooled_[1] > 0 && pooled_[0] < far &&
           pooled_[1] < far;
  }

  // Finds the pixels of each row and column of cells, in the definition's arithmetic. Returns false
  // if the reference must decide.
  bool place_all(const Shape& x, const Tensor& rois) {
    const Index many = rois.shape()[0];
    const Index sides = multiply(many, pooled_[0] + pooled_[1]);
    charge_work(sides);
    charge_scratch(multiply(sides, sizeof(Range)));
    images_.clear();
    ranges_.clear();
    for (Index r = 0; r < many; ++r) {
      const float* const roi = rois.data<float>() + r * 5;
      const float image = std::floor(roi[0]);
      if (!(image >= 0 && image < static_cast<float>(x[0]))) return false;
      images_.push_back(static_cast<Index>(image));
      for (const Index d : {0, 1}) {
        const float first = pixel(roi[2 - d]), last = pixel(roi[4 - d]);
        constexpr float far = 1e9F;
        if (!(std::abs(first) < far && std::abs(last) < far)) return false;
        const float extent = std::max(last - first + 1, 1.0F);
        const auto cells = static_cast<float>(pooled_[d]), size = static_cast<float>(x[2 + d]);
        for (Index p = 0; p < pooled_[d]; ++p) {
          const auto cell = static_cast<float>(p);
          const float low = first + std::floor(cell * extent / cells);
          const float high = first + std::ceil((cell + 1) * extent / cells);
          ranges_.push_back({static_cast<Index>(std::clamp(low, 0.0F, size)),
                             static_cast<Index>(std::clamp(high, 0.0F, size))});
        }
      }
    }
    return true;
  }
  float pixel(float place) const {
    const float corner = place * scale_;
    return corner < 0 ? std::ceil(corner - 0.5F) : std::floor(corner + 0.5F);
  }

  static Index pixels(const Range* ranges, Index cells) {
    Index all = 0;
    for (Index k = 0; k < cells; ++k) all += ranges[k].high - ranges[k].low;
    return all;
  }

  // `ranges`: of rows of cells, then of columns.
  void pool(const float* image, Index width, const Range* ranges, float* to) const {
    const Range* const columns = ranges + pooled_[0];
    const Index across = pixels(columns, pooled_[1]);
    for (Index p = 0; p < pooled_[0]; ++p) {
      const Range rows = ranges[p];
      charge_work(add(multiply(rows.high - rows.low, across), pooled_[1]));
      for (Index q = 0; q < pooled_[1]; ++q, ++to) {
        const Range along = columns[q];
        float most = -std::numeric_limits<float>::infinity();
        bool is_nan = false;
        for (Index i = rows.low; i < rows.high; ++i) {
          for (Index j = along.low; j < along.high; ++j) {
            const float one = image[i * width + j];
            most = one > most ? one : most;
            is_nan |= one != one;
          }
        }
        if (is_nan) most = std::numeric_limits<float>::quiet_NaN();
        *to = rows.low < rows.high && along.low < along.high ? most : 0;
      }
    }
  }

  IndexVector pooled_;
  float scale_;
  std::vector<Index> images_;  // of the rectangles of a run
  std::vector<Range> ranges_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "MaxRoiPool" &&
         graph.value(fact.inputs[0]).is(Type::float32) &&
         graph.value(fact.inputs[1]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<MaxRoiPool>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily max_roi_pool_family{"max roi pool", KernelClass::pool, takes, step};

}  // namespace touchstone::optimized
