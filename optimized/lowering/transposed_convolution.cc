// Transposed convolutions of any rank, groups, dilations and fed weights, in float32: products of
// filters and image, which are added to the output points that they reach.
#include <algorithm>

#include "core/error.h"
#include "optimized/kernels/gemm.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/sliding.h"

namespace touchstone {
namespace {

// Rows (a filter and a term of its window), depth and panels of one product.
constexpr Index rows_at_once = 96, depth_at_once = 512, panels_at_once = 8;
// Parts that the filters of a group are divided into, if they suffice. Does not depend on threads,
// since the order of sums depends on it.
constexpr Index filter_parts = 8;

struct Extents {
  Sliding window;
  Shape made;
  Index images, groups, channels, filters;  // channels and filters of a group
  Index plane, points;                      // elements of an image's and an output's channel
  Index terms;                              // of a window
  Index some, parts;                        // filters of a part, and parts of a group
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
  e.some = clamp(rows_at_once / e.terms, 1, max(e.filters / filter_parts, 1));
  e.parts = ceil_div(e.filters, e.some);
  return e;
}

// Adds one row of products, of `count` image points from `first` on, to a channel of the output.
void spread(const Sliding& s, Index term, const float* row, Index first, Index count, float* y) {
  const Index inner = s.image.size() - 1, width = s.image[inner];
  const Index shift = term % s.kernel[inner] * s.dilation[inner] - s.before[inner];
  const Index step = s.stride[inner];
  // Image coordinates whose output point exists.
  const Index low = ceil_div(-shift, step), high = ceil_div(s.out[inner] - shift, step);
  for (Index k = 0; k < count;) {
    const Index x = (first + k) % width, some = std::min(width - x, count - k);
    Index line = (first + k) / width, t = term / s.kernel[inner], along = s.out[inner], at = 0;
    bool in = true;
    for (Index d = inner; in && d-- > 0;) {
      const Index place =
          line % s.image[d] * s.stride[d] + t % s.kernel[d] * s.dilation[d] - s.before[d];
      in = place >= 0 && place < s.out[d];
      at += place * along;
      along *= s.out[d];
      line /= s.image[d];
      t /= s.kernel[d];
    }
    const Index from = std::max(low, x), to = std::min(high, x + some);
    if (in && from < to) {
      const float* const source = row + k - x;
      float* const made = y + at + shift;
      if (step == 1) {
        for (Index i = from; i < to; ++i) made[i] += source[i];
      } else {
        for (Index i = from; i < to; ++i) made[i * step] += source[i];
      }
    }
    k += some;
  }
}

class TransposedConvolutionStep : public TensorStep {
 public:
  TransposedConvolutionStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), gemm_(chosen_isa()) {
    kernel = "transposed convolution by products " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::transposed_convolution;
  }
  Index scratch() const override {
    return packed_floats() + products_floats() + rows_at_once * depth_at_once;
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
    const float* const w = of.w + group * e.channels * e.filters * e.terms;
    float* const y = of.y + (image * e.groups + group) * e.filters * e.points;
    for (Index m = from; m < to; ++m)
      std::fill_n(y + m * e.points, e.points, of.bias ? of.bias[group * e.filters + m] : 0.0F);
    if (e.channels == 0) return;
    float* const products = scratch + packed_floats();
    const Index columns = panels_at_once * gemm_.panel_columns();
    for (Index row = from * e.terms; row < to * e.terms; row += rows_at_once) {
      const Index rows = std::min(rows_at_once, to * e.terms - row);
      for (Index first = 0; first < e.plane; first += columns) {
        const Index points = std::min(columns, e.plane - first);
        multiply_block(x + first, w + row, rows, points, scratch);
        for (Index k = row; k < row + rows; ++k)
          spread(e.window, k % e.terms, products + (k - row) * columns, first, points,
                 y + k / e.terms * e.points);
      }
    }
  }

  // Multiplies rows of the transposed weights with a block of image points.
  void multiply_block(const float* x, const float* w, Index rows, Index points,
                      float* scratch) const {
    const Extents& e = *extents_;
    float* const products = scratch + packed_floats();
    float* const turned = products + products_floats();
    const Index weights_row = e.filters * e.terms, panels = gemm_.panels(points);
    const Index shares = ceil_div(e.channels, depth_at_once);
    for (Index share = 0; share < shares; ++share) {
      const Index from = e.channels * share / shares;
      const Index depth = e.channels * (share + 1) / shares - from;
      for (Index c = 0; c < depth; ++c) {
        for (Index k = 0; k < rows; ++k) turned[k * depth + c] = w[(from + c) * weights_row + k];
      }
      gemm_.pack({x + from * e.plane, e.plane, 1, depth, points}, nullptr, scratch, 0, panels);
      GemmProblem product;
      product.a = turned;
      product.a_row = product.depth = depth;
      product.packed = scratch;
      product.c = products;
      product.c_row = product.residual_row = panels_at_once * gemm_.panel_columns();
      product.columns = points;
      product.residual = share > 0 ? products : nullptr;
      gemm_.run(product, 0, panels, 0, rows);
    }
  }

  const Gemm gemm_;
  Shape x_, w_;  // that the extents are of
  std::optional<Extents> extents_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "ConvTranspose") return false;
  const auto floats = [&](Index value) {
    return value == no_value || graph.value(value).is(Type::float32);
  };
  return std::all_of(fact.inputs.begin(), fact.inputs.end(), floats) &&
         fact.outputs[0] != no_value && floats(fact.outputs[0]);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<TransposedConvolutionStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily transposed_convolution_family{"transposed convolution",
                                                 KernelClass::transposed_convolution, takes, step};

}  // namespace touchstone
