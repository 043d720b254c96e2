// Convolutions of any rank, groups, dilations and fed weights, in float32: the filters of a group
// times patches of the image, which are packed block by block so that they stay in the cache.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/patches.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/padded_convolution.h"
#include "optimized/lowering/sliding.h"

namespace touchstone::optimized {
namespace {

// Floats of a block of patches, which stay in L2 while all filters of a group read them.
constexpr Index block_floats = Index{1} << 17, depth_at_once = 512, most_panels = 16;
constexpr Index most_columns = most_panels * patch_panel_avx512;
constexpr Index slab_floats = Index{1} << 20;  // limit on those of a padded image
constexpr Index few_rows = 48;  // filters below which patches cost more than the product

PatchKernel patches_of(Isa isa) { return BY_ISA(isa, patches); }

// The extents of one convolution.
struct Extents {
  Sliding window;
  Shape made;
  Index images, groups, channels, filters;  // channels and filters of a group
  Index plane, points;                      // elements of an image's and an output's channel
  Index terms, line_terms, lines;           // of a window, of its innermost dimension, and outside
  Index depth, shares;                      // of the product, and the parts that it is summed in
  Index panels, blocks;                     // panels of a block, and blocks of an output channel
};

// Merges neighboring dimensions in which a window is one element at every point of the image.
Sliding merged(const Sliding& s) {
  Sliding made;
  bool was_point = false;
  for (Index d = 0; d < s.image.size(); ++d) {
    const bool is_point =
        s.kernel[d] == 1 && s.stride[d] == 1 && s.before[d] == 0 && s.out[d] == s.image[d];
    if (is_point && was_point) {
      made.image[made.image.size() - 1] *= s.image[d];
      made.out[made.out.size() - 1] *= s.out[d];
      continue;
    }
    was_point = is_point;
    made.image.push_back(s.image[d]);
    made.kernel.push_back(s.kernel[d]);
    made.stride.push_back(s.stride[d]);
    made.dilation.push_back(s.dilation[d]);
    made.before.push_back(s.before[d]);
    made.after.push_back(s.after[d]);
    made.out.push_back(s.out[d]);
  }
  return made;
}

std::optional<Extents> extents_of(const Facts& node, const Shape& x, const Shape& w, Index panel) {
  const Index groups = node.integer("group", 1);
  if (x.size() < 3 || w.size() != x.size() || groups <= 0) return std::nullopt;
  if (x[1] % groups != 0 || w[1] != x[1] / groups || w[0] % groups != 0) return std::nullopt;
  const Shape kernel = tail(w, 2);
  if (node.given("kernel_shape") && node.integers("kernel_shape") != kernel) return std::nullopt;
  std::optional<Sliding> window = sliding_of(node, tail(x, 2), kernel);
  if (!window) return std::nullopt;
  Extents e{};
  e.window = *window;
  e.made = Shape{x[0], w[0]};
  append(e.made, window->out);
  e.images = x[0];
  e.groups = groups;
  e.channels = w[1];
  e.filters = w[0] / groups;
  try {
    e.plane = count(window->image);
    e.points = count(window->out);
    e.terms = count(kernel);
    e.depth = multiply(e.channels, e.terms);
  } catch (const Error&) {
    return std::nullopt;  // overflow, which only tensors without elements reach
  }
  e.window = merged(e.window);
  e.line_terms = e.window.kernel.back();
  e.lines = e.line_terms == 0 ? 0 : e.terms / e.line_terms;
  e.shares = max(ceil_div(e.depth, depth_at_once), 1);
  const Index share = max(ceil_div(e.depth, e.shares), 1), all = ceil_div(e.points, panel);
  e.panels = clamp(min(block_floats / (panel * (share + 1)), all), 1, most_panels);
  e.blocks = ceil_div(all, e.panels);
  return e;
}

// Packs the patches of one block of output points.
class Block {
 public:
  Block(const Extents& e, Index panel, Index first, Index points)
      : e_(e), panel_(panel), first_(first), points_(points) {}

  // Writes the terms [from, to) of all windows of the block.
  void pack(PatchKernel patches, const float* image, Index from, Index to, float* packed) {
    divide(packed, to - from);
    const Sliding& s = e_.window;
    const Index d = s.image.size() - 1;
    const Index kept = e_.lines <= table / std::max<Index>(runs_, 1) ? e_.lines : 0;
    for (Index line = 0; line < kept; ++line) find_lines(line, lines_.data() + line * runs_);
    Index found = -1;
    for (Index k = from; k < to; ++k) {
      const Index term = k % e_.terms, line = term / e_.line_terms, t = term % e_.line_terms;
      if (kept == 0 && found != line) find_lines(found = line, lines_.data());
      const Extent in = inside(s, d, t);
      const PatchTap tap{in.low, in.high, t * s.dilation[d] - s.before[d], s.stride[d]};
      patches(list_.data(), lines_.data() + (kept == 0 ? 0 : line * runs_), runs_,
              image + k / e_.terms * e_.plane, tap, 1 + k - from);
    }
  }

 private:
  static constexpr Index table = 4 * (most_columns + 1);

  // Divides the points into runs of one output row and panel. The panel's last columns, which are
  // no points, are a run of padding.
  void divide(float* packed, Index depth) {
    const Index width = e_.window.out.back(), step = panel_ * (depth + 1);
    const Index columns = ceil_div(points_, panel_) * panel_;
    runs_ = 0;
    for (Index k = 0; k < columns;) {
      if (k % panel_ == 0) std::fill_n(packed + k / panel_ * step, panel_, 0.0F);
      const Index point = first_ + k, x = point % width, left = panel_ - k % panel_;
      const Index some = k < points_ ? std::min({left, width - x, points_ - k}) : left;
      const auto at = static_cast<std::size_t>(runs_++);
      list_[at] = {packed + k / panel_ * step + k % panel_, x, some};
      rows_[at] = k < points_ ? point / width : -1;
      k += some;
    }
  }

  // Finds the input row that each run reads for the terms of one line of the window.
  void find_lines(Index line, Index* found) const {
    const Sliding& s = e_.window;
    for (Index k = 0; k < runs_; ++k) {
      Index row = rows_[static_cast<std::size_t>(k)], t = line, step = s.image.back(), at = 0;
      bool in = row >= 0;
      for (Index d = s.image.size() - 1; in && d-- > 0;) {
        const Index place =
            row % s.out[d] * s.stride[d] + t % s.kernel[d] * s.dilation[d] - s.before[d];
        in = place >= 0 && place < s.image[d];
        at += place * step;
        step *= s.image[d];
        row /= s.out[d];
        t /= s.kernel[d];
      }
      found[k] = in ? at : -1;
    }
  }

  const Extents& e_;
  const Index panel_, first_, points_;
  Index runs_ = 0;
  std::array<PatchRun, most_columns + 1> list_;
  std::array<Index, most_columns + 1> rows_;  // the output row of each run
  std::array<Index, table> lines_;
};

class ConvolutionStep : public TensorStep {
 public:
  ConvolutionStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), gemm_(chosen_isa()) {
    const AnalyzedValue &x = graph.value(fact().inputs[0]), &w = graph.value(fact().inputs[1]);
    if (x.shape && w.shape) prepare(*x.shape, *w.shape, slab_floats);
    const std::string set(name(chosen_isa()));
    kernel = (padded_ ? "convolution of padded images " : "convolution of patches ") + set;
    kernel_class = KernelClass::convolution;
  }
  Index scratch() const override {
    const Index packed = std::max(block_floats, gemm_.panel_columns() * (depth_at_once + 1));
    return padded_ ? std::max(packed, padded_->scratch()) : packed;
  }
  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &w = input(state, 1);
    const Tensor* const bias = has_input(2) ? &input(state, 2) : nullptr;
    if (!extents_ || x.shape() != x_ || w.shape() != w_)
      prepare(x.shape(), w.shape(), padded_ ? padded_->scratch() : block_floats);
    if (!extents_ || (bias && bias->shape() != Shape{w_[0]})) return run_on_reference(state);
    const Extents& e = *extents_;
    float* const y = output(state, 0, Type::float32, e.made).data<float>();
    if (e.images == 0 || e.filters == 0 || e.points == 0) return;
    const double work = static_cast<double>(e.images) * static_cast<double>(w.size()) *
                        static_cast<double>(e.points) * nanoseconds_a_multiply_add;
    const Operands operands{x.data<float>(), w.data<float>(), bias ? bias->data<float>() : nullptr,
                            y};
    if (padded_) {
      const Index slabs = padded_->slabs();
      state.each(e.images * e.groups * slabs, work, [&](Index each, Index thread) {
        const Index part = each / slabs, filter = part % e.groups * e.filters;
        padded_->run(
            each % slabs, operands.x + part * e.channels * e.plane, operands.w + filter * e.depth,
            operands.bias ? operands.bias + filter : nullptr, y + part * e.filters * e.points,
            state.scratch[static_cast<std::size_t>(thread)]);
      });
      return;
    }
    const Index parts = e.images * e.groups * e.blocks;
    const Index wanted = ceil_div(parts_for(state.pool.size()), parts);
    const Index rows = ceil_div(e.filters, clamp(wanted, 1, max(e.filters / few_rows, 1)));
    const Index row_parts = ceil_div(e.filters, rows);
    state.each(parts * row_parts, work, [&](Index part, Index thread) {
      const Index first = part % row_parts * rows, block = part / row_parts;
      compute(operands, block, first, std::min(rows, e.filters - first),
              state.scratch[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  struct Operands {
    const float *x, *w, *bias;
    float* y;
  };

  void prepare(const Shape& x, const Shape& w, Index scratch) {
    x_ = x;
    w_ = w;
    extents_ = extents_of(fact().attributes(), x_, w_, gemm_.panel_columns());
    padded_.reset();
    if (extents_)
      padded_ =
          PaddedConvolution::of(extents_->window, extents_->channels, extents_->filters, scratch);
  }

  // Computes some filters of one group at one block of points.
  void compute(const Operands& of, Index block, Index first_row, Index rows, float* packed) const {
    const Extents& e = *extents_;
    const Index panel = gemm_.panel_columns(), image = block / e.blocks / e.groups;
    const Index group = block / e.blocks % e.groups, first = block % e.blocks * e.panels * panel;
    const Index points = std::min(e.panels * panel, e.points - first);
    const Index channel = (image * e.groups + group) * e.channels;
    const Index filter = group * e.filters;
    GemmProblem product;
    product.c = of.y + ((image * e.groups + group) * e.filters) * e.points + first;
    product.c_row = e.points;
    product.columns = points;
    product.a_row = e.depth;
    const bool fill = of.bias != nullptr || e.depth == 0;
    for (Index k = first_row; fill && k < first_row + rows; ++k)
      std::fill_n(product.c + k * e.points, points, of.bias ? of.bias[filter + k] : 0.0F);
    Block patches(e, panel, first, points);
    for (Index share = 0; share < e.shares && e.depth > 0; ++share) {
      const Index from = e.depth * share / e.shares, to = e.depth * (share + 1) / e.shares;
      patches.pack(patches_, of.x + channel * e.plane, from, to, packed);
      product.a = of.w + filter * e.depth + from;
      product.packed = packed;
      product.depth = to - from;
      product.residual = fill || share > 0 ? product.c : nullptr;
      product.residual_row = e.points;
      gemm_.run(product, 0, ceil_div(points, panel), first_row, rows);
    }
  }

  const Gemm gemm_;
  const PatchKernel patches_ = patches_of(chosen_isa());
  Shape x_, w_;  // that the extents are of
  std::optional<Extents> extents_;
  std::optional<PaddedConvolution> padded_;
};

bool takes(const AnalyzedGraph& graph, Index node) { return is_float_window(graph, node, "Conv"); }

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<ConvolutionStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily convolution_family{"convolution", KernelClass::convolution, takes, step};

}  // namespace touchstone::optimized
