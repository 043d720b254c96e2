// Deformable convolutions of one to three dimensions in float32: a block of output points is
// sampled, element by element of the kernel, then multiplied with the filters of a group.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/kernels/gemm.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/sliding.h"

namespace touchstone::optimized {
namespace {

constexpr Index points_at_once = 128;
constexpr Index depth_at_once = 512;  // terms of a product, at least an element's channel
constexpr Index largest_image = Index{1} << 24;  // floats hold all positions below
constexpr Index most_dimensions = 3, most_taps = 8;

struct Extents {
  Sliding window;
  Shape made;
  Index images, groups, channels, filters;  // channels and filters of a group
  Index owners;                             // channels that share their displacements
  Index terms, plane, points, blocks;
};

// The pixels that a sample is made of, without those outside of the image.
struct Taps {
  std::array<std::int32_t, most_taps * points_at_once> at;
  std::array<float, most_taps * points_at_once> share;
  std::array<std::int32_t, points_at_once> count;
};

std::optional<Extents> extents_of(const Facts& node, const Shape& x, const Shape& w) {
  const Index groups = node.integer("group", 1), sets = node.integer("offset_group", 1);
  const Index r = x.size() - 2;
  if (r < 1 || r > most_dimensions || w.size() != x.size()) return std::nullopt;
  if (groups <= 0 || sets <= 0 || x[1] % sets != 0) return std::nullopt;
  if (x[1] % groups != 0 || w[1] != x[1] / groups || w[0] % groups != 0) return std::nullopt;
  const Shape image = tail(x, 2), kernel = tail(w, 2);
  if (node.given("kernel_shape") && node.integers("kernel_shape") != kernel) return std::nullopt;
  const std::optional<Sliding> window = sliding_of(node, image, kernel);
  if (!window || count(x) == 0 || count(w) == 0 || count(window->out) == 0) return std::nullopt;
  Extents e{};
  e.window = *window;
  e.made = Shape{x[0], w[0]};
  append(e.made, window->out);
  e.images = x[0];
  e.groups = groups;
  e.channels = w[1];
  e.filters = w[0] / groups;
  e.owners = x[1] / sets;
  e.terms = count(kernel);
  e.plane = count(image);
  e.points = count(window->out);
  e.blocks = ceil_div(e.points, points_at_once);
  if (e.terms > depth_at_once || e.plane >= largest_image) return std::nullopt;
  return e;
}

class DeformableConvolution : public TensorStep {
 public:
  DeformableConvolution(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), gemm_(chosen_isa()) {
    kernel = "deformable convolution " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::convolution;
  }
  Index scratch() const override { return packed_floats() + depth_at_once * points_at_once; }

  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &w = input(state, 1), &offset = input(state, 2);
    const Tensor* const bias = has_input(3) ? &input(state, 3) : nullptr;
    const Tensor* const mask = has_input(4) ? &input(state, 4) : nullptr;
    const std::optional<Extents> e = extents_of(fact().attributes(), x.shape(), w.shape());
    if (!e || !fits(*e, x, offset, bias, mask)) return run_on_reference(state);
    const Operands operands{x.data<float>(),
                            w.data<float>(),
                            offset.data<float>(),
                            bias ? bias->data<float>() : nullptr,
                            mask ? mask->data<float>() : nullptr,
                            output(state, 0, Type::float32, e->made).data<float>()};
    const double work = static_cast<double>(e->images * e->points) *
                        static_cast<double>(w.size() + e->groups * e->channels * e->terms * 16) *
                        nanoseconds_a_multiply_add;
    state.each(e->images * e->groups * e->blocks, work, [&](Index part, Index thread) {
      compute(*e, operands, part, state.scratch[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  struct Operands {
    const float *x, *w, *offset, *bias, *mask;
    float* y;
  };
  // A block of output points of an image.
  struct Block {
    Index image, first, points;
  };

  static bool fits(const Extents& e, const Tensor& x, const Tensor& offset, const Tensor* bias,
                   const Tensor* mask) {
    const Index sets = x.shape()[1] / e.owners, r = e.window.image.size();
    Shape shown{e.images, 0}, weighed{e.images, 0};
    try {
      shown[1] = multiply(multiply(sets, e.terms), r);
      weighed[1] = multiply(sets, e.terms);
    } catch (const Error&) {
      return false;
    }
    append(shown, e.window.out);
    append(weighed, e.window.out);
    if (offset.shape() != shown || (mask && mask->shape() != weighed)) return false;
    if (bias && bias->shape() != Shape{e.made[1]}) return false;
    // The reference refuses a displacement that is no number.
    const float* const first = offset.data<float>();
    return std::none_of(first, first + offset.size(), [](float by) { return std::isnan(by); });
  }

  Index packed_floats() const { return gemm_.packed_size(depth_at_once, points_at_once); }

  // Finds the pixels under one element of the kernel, for all channels of a set.
  static void find(const Extents& e, const Block& block, const float* offset, Index element,
                   Taps& taps) {
    const Sliding& s = e.window;
    const Index r = s.image.size();
    for (Index k = 0; k < block.points; ++k) {
      std::int32_t* const at = taps.at.data() + k * most_taps;
      float* const share = taps.share.data() + k * most_taps;
      std::int32_t many = 1;
      at[0] = 0, share[0] = 1;
      Index point = block.first + k, rest = element, stride = 1;
      for (Index d = r; d-- > 0;) {
        const Index from =
            point % s.out[d] * s.stride[d] + rest % s.kernel[d] * s.dilation[d] - s.before[d];
        point /= s.out[d], rest /= s.kernel[d];
        const float place =
            std::clamp(static_cast<float>(from) + offset[d * e.points + block.first + k], -2.0F,
                       static_cast<float>(s.image[d] + 1));
        const float cell = std::floor(place), part = place - cell;
        const auto near = static_cast<Index>(cell);
        const bool low = near >= 0 && near < s.image[d];
        const bool high = near + 1 >= 0 && near + 1 < s.image[d];
        const auto shift = static_cast<std::int32_t>(near * stride);
        const auto step = static_cast<std::int32_t>(stride);
        std::int32_t kept = low ? many : 0;
        if (high) {
          for (std::int32_t n = 0; n < many; ++n) {
            at[kept + n] = at[n] + shift + step;
            share[kept + n] = share[n] * part;
          }
        }
        if (low) {
          for (std::int32_t n = 0; n < many; ++n) at[n] += shift, share[n] *= 1 - part;
        }
        many = kept + (high ? many : 0);
        stride *= s.image[d];
      }
      taps.count[static_cast<std::size_t>(k)] = many;
    }
  }

  // Writes the samples of one channel.
  static void sample(const Block& block, const float* image, const Taps& taps, const float* mask,
                     float* row) {
    for (Index k = 0; k < block.points; ++k) {
      const std::int32_t* const at = taps.at.data() + k * most_taps;
      const float* const share = taps.share.data() + k * most_taps;
      const std::int32_t many = taps.count[static_cast<std::size_t>(k)];
      if (many == 4) {
        row[k] = image[at[0]] * share[0] + image[at[1]] * share[1] +
                 (image[at[2]] * share[2] + image[at[3]] * share[3]);
        continue;
      }
      float sum = 0;
      for (std::int32_t n = 0; n < many; ++n) sum += image[at[n]] * share[n];
      row[k] = sum;
    }
    if (mask == nullptr) return;
    for (Index k = 0; k < block.points; ++k) row[k] *= mask[block.first + k];
  }

  // Computes the filters of one group at one block of points.
  void compute(const Extents& e, const Operands& of, Index part, float* packed) const {
    const Index group = part / e.blocks % e.groups, first = part % e.blocks * points_at_once;
    const Block block{part / e.blocks / e.groups, first,
                      std::min(points_at_once, e.points - first)};
    const Index all = e.groups * e.channels, sets = all / e.owners, r = e.window.image.size();
    const Index filter = group * e.filters, depth = e.channels * e.terms;
    float* const samples = packed + packed_floats();
    float* const y = of.y + (block.image * e.groups * e.filters + filter) * e.points + first;
    for (Index m = 0; m < e.filters; ++m)
      std::fill_n(y + m * e.points, block.points, of.bias ? of.bias[filter + m] : 0.0F);
    Taps taps;
    const Index some = std::max<Index>(depth_at_once / e.terms, 1);  // channels of a product
    for (Index from = 0; from < e.channels; from += some) {
      const Index to = std::min(from + some, e.channels);
      for (Index element = 0; element < e.terms; ++element) {
        Index found = -1;
        for (Index c = from; c < to; ++c) {
          const Index channel = group * e.channels + c, set = channel / e.owners;
          const Index term = (block.image * sets + set) * e.terms + element;
          if (set != found) find(e, block, of.offset + term * r * e.points, element, taps);
          found = set;
          charge_work(block.points);
          sample(block, of.x + (block.image * all + channel) * e.plane, taps,
                 of.mask ? of.mask + term * e.points : nullptr,
                 samples + ((c - from) * e.terms + element) * points_at_once);
        }
      }
      GemmProblem product;
      product.depth = (to - from) * e.terms;
      product.columns = block.points;
      const Index panels = gemm_.panels(block.points);
      gemm_.pack({samples, points_at_once, 1, product.depth, block.points}, nullptr, packed, 0,
                 panels);
      product.a = of.w + filter * depth + from * e.terms;
      product.a_row = depth;
      product.packed = packed;
      product.c = y;
      product.residual = y;
      product.c_row = product.residual_row = e.points;
      gemm_.run(product, 0, panels, 0, e.filters);
    }
  }

  const Gemm gemm_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  return is_float_window(graph, node, "DeformConv");
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<DeformableConvolution>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily deformable_convolution_family{"deformable convolution", KernelClass::convolution,
                                                 takes, step};

}  // namespace touchstone::optimized
