// Convolutions of volumes with constant weights, as convolutions of images on channel blocks. The
// planes of the input stand one behind another, so that the channels of the planes that a window
// covers are those of one image.
#include <algorithm>
#include <limits>
#include <optional>

#include "core/budget.h"
#include "optimized/kernels/convolution.h"
#include "optimized/kernels/layout.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/sliding.h"
#include "optimized/plan/image_windows.h"
#include "optimized/plan/large.h"

namespace touchstone::optimized {
namespace {

constexpr Index slab_floats = Index{1} << 21;  // wanted, of a slab of planes
constexpr Index most_floats = Index{1} << 24;  // limit, of one output plane and what it reads

struct Volume {
  Sliding window;
  Index images, channels, filters;
};

// The window of a node that this family may take: one group of at least three quarters of a block
// of channels, constant weights, and neighboring planes.
std::optional<Volume> volume_of(const AnalyzedGraph& graph, Index node) {
  if (!is_float_window(graph, node, "Conv")) return std::nullopt;
  const AnalyzedNode& fact = graph.node(node);
  const AnalyzedValue &x = graph.value(fact.inputs[0]), &w = graph.value(fact.inputs[1]);
  if (!x.floats() || x.shape->size() != 5 || count(*x.shape) == 0 || !w.constant)
    return std::nullopt;
  const Facts facts = fact.attributes();
  const Shape &image = *x.shape, &weights = w.constant->shape();
  const Index lanes = lanes_of(chosen_isa());
  if (weights.size() != 5 || weights[1] != image[1] || weights[0] < lanes ||
      facts.integer("group", 1) != 1 || 4 * image[1] < 3 * ceil_div(image[1], lanes) * lanes)
    return std::nullopt;
  const Shape kernel = tail(weights, 2);
  if (facts.given("kernel_shape") && facts.integers("kernel_shape") != kernel) return std::nullopt;
  if (fact.inputs.size() > 2 && fact.inputs[2] != no_value) {
    const AnalyzedValue& bias = graph.value(fact.inputs[2]);
    if (!bias.constant || bias.constant->shape() != Shape{weights[0]}) return std::nullopt;
  }
  std::optional<Sliding> window = sliding_of(facts, tail(image, 2), kernel);
  if (!window || count(kernel) == 0 || count(window->out) == 0) return std::nullopt;
  if (window->dilation[0] != 1 && kernel[0] != 1) return std::nullopt;
  for (Index d = 0; d < 3; ++d) {
    if (window->before[d] < 0 || window->after[d] < 0) return std::nullopt;
  }
  return Volume{*window, image[0], image[1], weights[0]};
}

class VolumeConvolution : public TensorStep {
 public:
  VolumeConvolution(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        volume_(*volume_of(graph, node)),
        convolution_(chosen_isa(), shape_of(volume_),
                     graph.winograd() ? ConvolutionAlgorithm::best : ConvolutionAlgorithm::direct) {
    const Sliding& s = volume_.window;
    const Index lanes = lanes_of(chosen_isa());
    made_ = Shape{volume_.images, volume_.filters};
    append(made_, s.out);
    rows_ = s.before[1] + s.image[1] + s.after[1];
    row_ = (s.before[2] + s.image[2] + s.after[2]) * lanes;
    plane_ = ceil_div(volume_.channels, lanes) * rows_ * row_;
    made_plane_ = ceil_div(volume_.filters, lanes) * s.out[1] * s.out[2] * lanes;
    if (s.stride[0] <= s.kernel[0]) {  // else planes between windows would be copied as well
      while (slab_ < s.out[0] && floats_of(slab_ + 1) <= slab_floats) ++slab_;
    }
    const Tensor& w = *graph.value(fact().inputs[1]).constant;
    const IndexVector format{static_cast<Index>(convolution_.algorithm()), lanes};
    weights_ = w;
    packed_ = graph.weights().get<LargeMemory>({&w}, format, [&] {
      LargeMemory packed = large_memory(convolution_.packed_size());
      convolution_.pack(w.data<float>(), packed.get());
      return packed;
    });
    bias_.resize(static_cast<std::size_t>(ceil_div(volume_.filters, lanes) * lanes));
    if (has_input(2)) {
      const Tensor& bias = *graph.value(fact().inputs[2]).constant;
      std::copy_n(bias.data<float>(), bias.size(), bias_.begin());
    }
    kernel = "convolution of planes " + std::string(name(chosen_isa())) + " " +
             convolution_.kernels_chosen();
    kernel_class = convolution_.algorithm() == ConvolutionAlgorithm::direct
                       ? KernelClass::convolution
                       : KernelClass::winograd;
  }
  Index scratch() const override { return floats_of(slab_); }

  // Floats of scratch for one output plane and what it reads.
  static bool fits(const Volume& volume) {
    const Sliding& s = volume.window;
    const double lanes = static_cast<double>(lanes_of(chosen_isa()));
    const auto padded = [&](Index d) {
      return static_cast<double>(s.before[d]) + static_cast<double>(s.image[d] + s.after[d]);
    };
    return static_cast<double>(s.kernel[0]) * (static_cast<double>(volume.channels) + lanes) *
                   padded(1) * padded(2) +
               (static_cast<double>(volume.filters) + lanes) * static_cast<double>(s.out[1]) *
                   static_cast<double>(s.out[2]) <=
           static_cast<double>(most_floats);
  }

  void run(RunState& state) override {
    const float* const x = input(state, 0).data<float>();
    float* const y = output(state, 0, Type::float32, made_).data<float>();
    const Index planes = volume_.window.out[0];
    const Index wanted = ceil_div(parts_for(state.pool.size()), volume_.images);
    const Index slab = std::min(slab_, ceil_div(planes, std::min(wanted, planes)));
    const Index slabs = ceil_div(planes, slab);
    const double work = static_cast<double>(count(made_)) *
                        static_cast<double>(volume_.channels * count(volume_.window.kernel)) *
                        nanoseconds_a_multiply_add;
    state.each(volume_.images * slabs, work, [&](Index each, Index thread) {
      const Index first = each % slabs * slab, image = each / slabs;
      compute(x + image * volume_.channels * count(volume_.window.image),
              y + image * volume_.filters * count(volume_.window.out), first,
              std::min(slab, planes - first), state.scratch[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  static ConvolutionShape shape_of(const Volume& volume) {
    const Sliding& s = volume.window;
    const Index lanes = lanes_of(chosen_isa());
    ConvolutionShape shape;
    shape.kernel_rows = s.kernel[1];
    shape.kernel_columns = s.kernel[2];
    shape.row_stride = s.stride[1];
    shape.column_stride = s.stride[2];
    shape.row_dilation = s.dilation[1];
    shape.column_dilation = s.dilation[2];
    shape.planes = s.kernel[0];
    shape.plane_channels = volume.channels;
    shape.channels_in = s.kernel[0] * ceil_div(volume.channels, lanes) * lanes;
    shape.channels_out = volume.filters;
    shape.rows_out = s.out[1];
    shape.columns_out = s.out[2];
    return shape;
  }

  // Planes of the input from the first that `slab` output planes read to the last.
  Index planes_of(Index slab) const {
    return (slab - 1) * volume_.window.stride[0] + volume_.window.kernel[0];
  }
  Index floats_of(Index slab) const {
    return planes_of(slab) * plane_ + slab * made_plane_ + convolution_.scratch_size();
  }

  // Copies plane `at` of the image, which may be padding, into blocks with a halo.
  void copy_plane(const float* x, Index at, float* to) const {
    const Sliding& s = volume_.window;
    const Index lanes = lanes_of(chosen_isa()), inside = s.image[1] * s.image[2];
    if (at < 0 || at >= s.image[0]) {
      std::fill_n(to, plane_, 0.0F);
      return;
    }
    const BlockedImage blocks{to + s.before[1] * row_ + s.before[2] * lanes, lanes, row_,
                              rows_ * row_};
    const Area area{volume_.channels, s.image[1], s.image[2]};
    clear_halo(chosen_isa(), blocks, area, {s.before[1], s.after[1], s.before[2], s.after[2]});
    const PlainImage plain{const_cast<float*>(x) + at * inside, s.image[2], s.image[0] * inside};
    to_blocks(chosen_isa(), plain, blocks, area);
  }

  // Computes output planes [first, first + slab) of an image.
  void compute(const float* x, float* y, Index first, Index slab, float* scratch) const {
    const Sliding& s = volume_.window;
    const Index lanes = lanes_of(chosen_isa()), step = s.stride[0], points = s.out[1] * s.out[2];
    for (Index plane = 0; plane < planes_of(slab); ++plane)
      copy_plane(x, first * step + plane - s.before[0], scratch + plane * plane_);
    float* const made = scratch + planes_of(slab) * plane_;
    float* const rest = made + slab * made_plane_;
    const auto result = [&](Index plane) {
      return BlockedImage{made + plane * made_plane_, lanes, s.out[2] * lanes, points * lanes};
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Index rows = convolution_.rows_at_once();
    for (Index row = 0; row < s.out[1]; row += rows) {
      for (Index part = 0; part < convolution_.parts(); ++part) {
        check_budget();
        for (Index plane = 0; plane < slab; ++plane) {
          const BlockedImage in{scratch + plane * step * plane_, lanes, row_, rows_ * row_};
          convolution_.run(in, {packed_->get(), weights_.data<float>()}, bias_.data(), nullptr,
                           result(plane), -infinity, infinity, part, row,
                           std::min(rows, s.out[1] - row), rest);
        }
      }
    }
    for (Index plane = 0; plane < slab; ++plane) {
      const PlainImage plain{y + (first + plane) * points, s.out[2], s.out[0] * points};
      from_blocks(chosen_isa(), result(plane), plain, {volume_.filters, s.out[1], s.out[2]});
    }
  }

  const Volume volume_;
  const Convolution convolution_;
  Shape made_;
  Index rows_ = 0, row_ = 0, plane_ = 0, made_plane_ = 0;  // of planes in blocks, in floats
  Index slab_ = 1;                                         // output planes computed together
  Tensor weights_;
  std::shared_ptr<const LargeMemory> packed_;
  std::vector<float> bias_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const std::optional<Volume> volume = volume_of(graph, node);
  if (!volume || !VolumeConvolution::fits(*volume)) return false;
  // Padding is multiplied by the weights here, which makes NaN of an infinity.
  return all_finite(*graph.value(graph.node(node).inputs[1]).constant);
}

}  // namespace

const KernelFamily volume_convolution_family{"convolution of planes", KernelClass::convolution,
                                             takes, make_step<VolumeConvolution>};

}  // namespace touchstone::optimized
