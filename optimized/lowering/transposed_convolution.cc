// Transposed convolutions of any rank, groups, dilations and fed weights, in float32: products of
// filters and image, which are added to the output points that they reach.
#include <algorithm>
#include <limits>

#include "core/error.h"
#include "optimized/kernels/gemm.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/transposed_spread.h"
#include "optimized/plan/large.h"

namespace touchstone::optimized {
namespace {

// Rows (a filter and a term of its window), depth and panels of one product.
constexpr Index rows_at_once = 96, depth_at_once = 512, panels_at_once = 8;
// Parts that the filters of a group are divided into, if they suffice. Does not depend on threads,
// since the order of sums depends on it.
constexpr Index filter_parts = 8;
// Floats of the split channels of a part.
constexpr Index split_floats = Index{1} << 16;

struct Extents {
  Sliding window;
  Shape made;
  Index images, groups, channels, filters;  // channels and filters of a group
  Index plane, points;                      // elements of an image's and an output's channel
  Index terms;                              // of a window
  Index some, parts;                        // filters of a part, and parts of a group
  std::optional<TransposedSpread> spread;   // of outputs with elements
};

std::optional<Extents> extents_of(const Facts& node, const Shape& x, const Shape& w) {
  const Index groups = node.integer("group", 1);
  if (x.size() < 3 || w.size() != x.size() || groups <= 0) return std::nullopt;
  if (x[1] != w[0] || x[1] % groups != 0) return std::nullopt;
  const Shape kernel = tail(w, 2);
  if (node.given("kernel_shape") && node.integers("kernel_shape") != kernel) return std::nullopt;
  std::optional<Sliding> window = spreading_of(node, tail(x, 2), kernel);
  if (!window) return std::nullopt;
  Extents e{};
  e.window = *window;
  e.images = x[0];
  e.groups = groups;
  e.channels = x[1] / groups;
  e.filters = w[1];
  try {
    e.made = Shape{x[0], multiply(w[1], groups)};
    append(e.made, window->out);
    e.plane = count(window->image);
    e.points = count(window->out);
    e.terms = count(kernel);
  } catch (const Error&) {
    return std::nullopt;  // overflow, which only tensors without elements reach
  }
  e.some = clamp(rows_at_once / max(e.terms, 1), 1, max(e.filters / filter_parts, 1));
  if (e.points > 0 && e.plane > 0 && e.terms > 0) {
    e.spread.emplace(*window, split_floats);
    if (const Index floats = e.spread->channel_floats(); floats > 0)
      e.some = min(e.some, split_floats / floats);
  }
  e.parts = ceil_div(e.filters, e.some);
  return e;
}

class TransposedConvolutionStep : public TensorStep {
 public:
  TransposedConvolutionStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), gemm_(chosen_isa()) {
    kernel = "transposed convolution by products " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::transposed_convolution;
    const auto& constant = graph.value(fact().inputs[1]).constant;
    const Index groups = fact().attributes().integer("group", 1);
    if (!constant || constant->size() == 0 || groups <= 0) return;
    const Tensor& w = *constant;
    if (w.shape().size() < 3 || w.shape()[0] % groups != 0) return;
    turned_ = graph.weights().get<LargeMemory>({&w}, {groups}, [&] { return turned(w, groups); });
  }
  Index scratch() const override {
    return packed_floats() + products_floats() + rows_at_once * depth_at_once + split_floats;
  }
  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &w = input(state, 1);
    const Tensor* const bias = has_input(2) ? &input(state, 2) : nullptr;
    if (!extents_ || x.shape() != x_ || w.shape() != w_) {
      x_ = x.shape();
      w_ = w.shape();
      extents_ = extents_of(fact().attributes(), x_, w_);
    }
    if (!extents_ || (bias && bias->shape() != Shape{extents_->made[1]}))
      return run_on_reference(state);
    const Extents& e = *extents_;
    float* const y = output(state, 0, Type::float32, e.made).data<float>();
    if (e.images == 0 || e.filters == 0 || e.points == 0) return;
    const double work = static_cast<double>(e.images) * static_cast<double>(w.size()) *
                        static_cast<double>(e.plane) * nanoseconds_a_multiply_add;
    const Operands operands{x.data<float>(), w.data<float>(), bias ? bias->data<float>() : nullptr,
                            y};
    state.each(e.images * e.groups * e.parts, work, [&](Index part, Index thread) {
      compute(operands, part, state.scratch[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  struct Operands {
    const float *x, *w, *bias;
    float* y;
  };
  // Constant weights with the channels of each filter's term side by side.
  static LargeMemory turned(const Tensor& w, Index groups) {
    const Index channels = w.shape()[0] / groups, rows = w.size() / w.shape()[0];
    LargeMemory made = large_memory(w.size());
    for (Index group = 0; group < groups; ++group) {
      const float* const from = w.data<float>() + group * channels * rows;
      float* const to = made.get() + group * channels * rows;
      for (Index k = 0; k < rows; ++k) {
        for (Index c = 0; c < channels; ++c) to[k * channels + c] = from[c * rows + k];
      }
    }
    return made;
  }

  Index packed_floats() const {
    return panels_at_once * gemm_.panel_columns() * (depth_at_once + 1);
  }
  Index products_floats() const { return panels_at_once * gemm_.panel_columns() * rows_at_once; }

  // Computes some filters of one group of one image.
  void compute(const Operands& of, Index part, float* scratch) const {
    const Extents& e = *extents_;
    const Index image = part / e.parts / e.groups, group = part / e.parts % e.groups;
    const Index from = part % e.parts * e.some, to = std::min(from + e.some, e.filters);
    const float* const x = of.x + (image * e.groups + group) * e.channels * e.plane;
    const float* const w =
        (turned_ ? turned_->get() : of.w) + group * e.channels * e.filters * e.terms;
    float* const y = of.y + (image * e.groups + group) * e.filters * e.points;
    float* const products = scratch + packed_floats();
    float* const splits = products + products_floats() + rows_at_once * depth_at_once;
    const bool adds = e.channels > 0 && e.spread;
    const auto split = [&](Index m) { return splits + (m - from) * e.spread->channel_floats(); };
    for (Index m = from; m < to; ++m) {
      const float bias = of.bias ? of.bias[group * e.filters + m] : 0.0F;
      if (adds) {
        e.spread->fill(bias, y + m * e.points, split(m));
      } else {
        std::fill_n(y + m * e.points, e.points, bias);
      }
    }
    if (!adds) return;
    // A point of the image is a product with each row of the weights.
    const bool one = e.plane == 1 && turned_;
    const Index columns = one ? 1 : panels_at_once * gemm_.panel_columns();
    for (Index row = from * e.terms; row < to * e.terms; row += rows_at_once) {
      const Index rows = std::min(rows_at_once, to * e.terms - row);
      for (Index first = 0; first < e.plane; first += columns) {
        const Index points = std::min(columns, e.plane - first);
        if (one) {
          multiply_point(x, w + row * e.channels, rows, products);
        } else {
          multiply_block(x + first, w, row, rows, points, scratch);
        }
        for (Index k = row; k < row + rows; ++k) {
          const Index m = k / e.terms;
          e.spread->add(k % e.terms, products + (k - row) * columns, first, points,
                        y + m * e.points, split(m));
        }
      }
    }
    for (Index m = from; m < to; ++m) e.spread->join(split(m), y + m * e.points);
  }

  // Multiplies rows of the weights with the channels of an image of one point.
  void multiply_point(const float* x, const float* w, Index rows, float* products) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Index channels = extents_->channels;
    dots_({x, w, channels, nullptr, products, channels, -infinity, infinity}, 0, rows);
  }

  // Multiplies rows of the transposed weights of a group with a block of image points.
  void multiply_block(const float* x, const float* w, Index row, Index rows, Index points,
                      float* scratch) const {
    const Extents& e = *extents_;
    float* const products = scratch + packed_floats();
    float* const some = products + products_floats();
    const Index weights_row = e.filters * e.terms, panels = gemm_.panels(points);
    const Index shares = ceil_div(e.channels, depth_at_once);
    for (Index share = 0; share < shares; ++share) {
      const Index from = e.channels * share / shares;
      const Index depth = e.channels * (share + 1) / shares - from;
      GemmProblem product;
      product.depth = depth;
      if (turned_) {
        product.a = w + row * e.channels + from;
        product.a_row = e.channels;
      } else {
        for (Index c = 0; c < depth; ++c) {
          for (Index k = 0; k < rows; ++k)
            some[k * depth + c] = w[(from + c) * weights_row + row + k];
        }
        product.a = some;
        product.a_row = depth;
      }
      gemm_.pack({x + from * e.plane, e.plane, 1, depth, points}, nullptr, scratch, 0, panels);
      product.packed = scratch;
      product.c = products;
      product.c_row = product.residual_row = panels_at_once * gemm_.panel_columns();
      product.columns = points;
      product.residual = share > 0 ? products : nullptr;
      gemm_.run(product, 0, panels, 0, rows);
    }
  }

  const Gemm gemm_;
  const DotsKernel dots_ = dots_of(chosen_isa());
  Shape x_, w_;  // that the extents are of
  std::optional<Extents> extents_;
  std::shared_ptr<const LargeMemory> turned_;  // constant weights
};

bool takes(const AnalyzedGraph& graph, Index node) {
  return is_float_window(graph, node, "ConvTranspose");
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<TransposedConvolutionStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily transposed_convolution_family{"transposed convolution",
                                                 KernelClass::transposed_convolution, takes, step};

}  // namespace touchstone::optimized
