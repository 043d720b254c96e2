// Convolution steps on channel blocks with fused operations: residual and clamp in the kernel, and
// a region of pointwise nodes on rows that are still in cache.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "optimized/kernels/convolution.h"
#include "optimized/plan/large.h"
#include "optimized/plan/steps.h"

namespace touchstone::optimized {
namespace {

constexpr Index few_channels = 4;         // with at most this many, the plain tensor is read
constexpr Index region_elements = 16384;  // output of a kernel before the region runs on it
// with at most this many points, channels are split among threads, not rows
constexpr Index small_plane = 100;

KernelClass class_of(const ConvolutionShape& shape, ConvolutionAlgorithm algorithm) {
  if (algorithm == ConvolutionAlgorithm::narrow) return KernelClass::narrow_convolution;
  if (algorithm == ConvolutionAlgorithm::grouped) return KernelClass::convolution;
  if (algorithm != ConvolutionAlgorithm::direct) return KernelClass::winograd;
  if (shape.depthwise) return KernelClass::depthwise;
  return shape.plain_input ? KernelClass::plain_convolution : KernelClass::convolution;
}

// True if kernels can compute the single column of an image as its single row: its points are
// neighbors in all blocks.
bool runs_as_row(const Builder& builder, const Group& group) {
  if (!is_column_of_column(group.window)) return false;
  const Index input = builder.graph().node(group.main()).inputs[0];
  return builder.has_dense_rows(input) && builder.has_dense_rows(group.output()) &&
         (group.residual == no_value || builder.has_dense_rows(group.residual));
}

BlockedImage turned(BlockedImage image) {
  std::swap(image.row, image.column);
  return image;
}

void note_component(Builder& builder, ConvolutionAlgorithm algorithm) {
  switch (algorithm) {
    case ConvolutionAlgorithm::grouped:
      return builder.needs<Component::grouped>();
    case ConvolutionAlgorithm::winograd2:
    case ConvolutionAlgorithm::winograd4:
      return builder.needs<Component::winograd>();
    case ConvolutionAlgorithm::narrow:
      return builder.needs<Component::narrow>();
    case ConvolutionAlgorithm::direct:
    case ConvolutionAlgorithm::best:
      return;
  }
}

class OnConvolution : public Step {
 public:
  OnConvolution(Builder& builder, const Group& group)
      : graph_(builder.graph()),
        group_(group),
        as_row_(runs_as_row(builder, group)),
        window_(as_row_ ? turned(group.window) : group.window) {
    const AnalyzedNode& fact = graph_.node(group.main());
    input_ = group.factors == no_value ? fact.inputs[0] : group.input;
    const Shape& x = builder.shape(input_);
    const Tensor weights = taps_of(*graph_.value(fact.inputs[1]).constant);
    groups_ = fact.attributes().integer("group", 1);
    ConvolutionShape shape;
    shape.kernel_rows = window_.kernel[0];
    shape.kernel_columns = window_.kernel[1];
    shape.row_stride = window_.stride[0];
    shape.column_stride = window_.stride[1];
    shape.row_dilation = window_.dilation[0];
    shape.column_dilation = window_.dilation[1];
    shape.rows_out = window_.out[0];
    shape.columns_out = window_.out[1];
    shape.depthwise = groups_ > 1 && weights.shape()[1] == 1 && weights.shape()[0] == groups_;
    shape.channels_in = weights.shape()[1];
    const Index filters = weights.shape()[0] / groups_;
    if (groups_ > 1 && !shape.depthwise &&
        (shape.channels_in % builder.lanes() != 0 || filters % builder.lanes() != 0))
      shape.groups = groups_;
    if (shape.depthwise || shape.groups > 1) groups_ = 1;
    shape.channels_out = weights.shape()[0] / groups_;
    shape.plain_input = groups_ == 1 && !shape.depthwise && shape.groups == 1 &&
                        x[1] <= few_channels && !builder.is_blocked(input_) &&
                        window_.pad_begin[0] >= 0 &&
                        window_.pad_begin[1] >= 0;  // a negative one crops rows
    plain_ = shape.plain_input;
    shape.adds = group.residual != no_value;
    if (plain_) {
      from_ = builder.plain(input_);
      channels_ = x[1];
      padded_rows_ = window_.pad_begin[0] + window_.in[0] + window_.past_end(0);
      padded_columns_ = window_.pad_begin[1] + window_.in[1] + window_.past_end(1);
      pads_ = padded_rows_ != window_.in[0] || padded_columns_ != window_.in[1];
      if (pads_) padded_ = builder.temporary(channels_ * padded_rows_ * padded_columns_);
    } else {
      in_ = builder.blocked(input_);
      if (window_.skips[0]) shape.row_bands = bands_of(window_, 0);
      if (window_.skips[1]) shape.column_bands = bands_of(window_, 1);
    }
    if (group.residual != no_value) residual_ = builder.blocked(group.residual);
    if (!group.region.empty()) {
      builder.needs<Component::elements>();
      region_.emplace(graph_, group.region, Blocks::of(group.region.shape, builder.lanes(), {}));
      region_->prefetch(builder);
    }
    out_ = builder.make_blocked(group.output());
    if (region_) region_->set_output(out_.blocks);
    convolution_.emplace(
        chosen_isa(), shape,
        builder.winograd() ? ConvolutionAlgorithm::best : ConvolutionAlgorithm::direct,
        builder.threads());
    note_component(builder, convolution_->algorithm());
    pack(weights, shape);
    if (group.factors != no_value) {
      factors_ = builder.blocked(group.factors);
      scaled_ = builder.temporary(convolution_->packed_size());
    }
    const auto points = static_cast<double>(weights.size() * shape.rows_out * shape.columns_out);
    nanoseconds_ = points * nanoseconds_a_multiply_add;
    if (region_)
      nanoseconds_ += static_cast<double>(count(group.region.shape)) * nanoseconds_an_element;
    threads_ = builder.threads();
    const Index plane = shape.rows_out * shape.columns_out;
    by_weights_ = shape.depthwise ? plane <= small_plane
                                  : weights.size() > count(x) / x[0] + weights.shape()[0] * plane;
    kernel =
        "convolution " + std::string(name(chosen_isa())) + " " + convolution_->kernels_chosen();
    kernel_class = class_of(shape, convolution_->algorithm());
  }

  void bind(const Memory& memory) override {
    input_memory_ = memory.at(plain_ ? from_ : in_.buffer);
    if (pads_) padded_memory_ = memory.at(padded_);
    if (group_.residual != no_value) residual_memory_ = memory.at(residual_.buffer);
    out_memory_ = memory.at(out_.buffer);
    if (group_.factors != no_value) {
      factors_memory_ = memory.at(factors_.buffer);
      scaled_memory_ = memory.at(scaled_);
    }
    rows_ = std::min(convolution_->rows_at_once(), window_.out[0]);
    const Index wanted = parts_for(threads_);
    const Index others = out_.blocks.images * groups_ * convolution_->parts();
    const Index min = by_weights_ ? 1 : threads_;
    const Index pieces = std::min(std::max((wanted + others - 1) / others, min), window_.out[0]);
    if (threads_ > 1 && convolution_->may_be_cut())
      rows_ = std::min(rows_, (window_.out[0] + pieces - 1) / pieces);
    const Index tile = convolution_->rows_of_a_tile();
    rows_ = std::min((rows_ + tile - 1) / tile * tile, convolution_->rows_at_once());
    chunks_ = (window_.out[0] + rows_ - 1) / rows_;
    scratch_ = (convolution_->scratch_size() + 15) / 16 * 16;
    if (!region_) return;
    if (!region_->bind(memory, out_memory_, 2)) BUG("a region that fits blocks does not");
    Index max = 0;  // blocks of a part
    for (Index part = 0; part < convolution_->parts(); ++part)
      max = std::max(max, convolution_->blocks_of(part).second);
    region_rows_ = std::clamp<Index>(
        region_elements / (max * out_.blocks.columns * out_.blocks.lanes), 1, rows_);
    region_rows_ = std::min((region_rows_ + tile - 1) / tile * tile, rows_);
    region_scratch_ = scratch_;
    const Index high = as_row_ ? out_.blocks.rows : region_rows_;
    scratch_ += region_->kernels().scratch(region_->kernels().rows_of(0, max, 0, high));
  }
  Index scratch() const override { return scratch_; }
  PrefetchHint weights() const override {
    return {packed_->get(), groups_ * convolution_->packed_size()};
  }
  void precede(const PrefetchHint& prefetch) override { prefetch_ = prefetch; }

  void run(RunState& state) override {
    clear_halo(out_.blocks, out_memory_);
    const Index parts = convolution_->parts();
    const bool alone = pads_ || group_.factors != no_value;  // an image at a time
    for (Index image = 0; image < (alone ? out_.blocks.images : 1); ++image) {
      if (pads_) pad(image, state);
      if (group_.factors != no_value) {
        const BlockedImage by = factors_.blocks.image_view(factors_memory_, image);
        const auto weights = static_cast<double>(convolution_->packed_size());
        state.each(parts, weights * nanoseconds_an_element, [&](Index part, Index) {
          convolution_->scale(packed_->get(), by, part, scaled_memory_);
        });
      }
      const Index images = alone ? 1 : out_.blocks.images;
      // A thread takes neighboring work: rows of all parts, or parts of all rows.
      const Index shares = parts * groups_;
      state.each(images * chunks_ * shares, static_cast<double>(images) * nanoseconds_,
                 [&](Index k, Index thread) {
                   const Index share = by_weights_ ? k / chunks_ % shares : k % shares;
                   const Index chunk = by_weights_ ? k % chunks_ : k / shares % chunks_;
                   compute(image + k / (shares * chunks_), share / parts, share % parts,
                           chunk * rows_, state.scratch[static_cast<std::size_t>(thread)]);
                 });
    }
  }

 private:
  // Returns the weights of the window's taps.
  Tensor taps_of(const Tensor& all) const {
    const Index rank = all.shape().size(), across = all.shape()[rank - 1];
    const Index down = rank == 4 ? all.shape()[2] : 1;
    const Index rows = as_row_ ? across : down, columns = as_row_ ? down : across;
    if (window_.kernel[0] == rows && window_.kernel[1] == columns) return all;
    const Index row_step = as_row_ ? 1 : across, column_step = as_row_ ? across : 1;
    Shape shape = all.shape();
    shape[rank - 1] = window_.kernel[1];
    if (rank == 4) shape[2] = window_.kernel[0];
    Tensor made(Type::float32, shape);
    const float* from =
        all.data<float>() + window_.first_tap[0] * row_step + window_.first_tap[1] * column_step;
    float* to = made.data<float>();
    for (Index k = 0; k < shape[0] * shape[1]; ++k, from += rows * columns) {
      for (Index row = 0; row < window_.kernel[0]; ++row) {
        for (Index column = 0; column < window_.kernel[1]; ++column)
          *to++ = from[row * row_step + column * column_step];
      }
    }
    return made;
  }

  void pack(const Tensor& weights, const ConvolutionShape& shape) {
    const Index size = convolution_->packed_size();
    kept_weights_ = weights;
    weights_ = kept_weights_.data<float>();
    group_weights_ = weights.size() / groups_;
    const IndexVector format{static_cast<Index>(convolution_->algorithm()),
                             groups_,
                             as_row_,
                             window_.first_tap[0],
                             window_.first_tap[1],
                             shape.kernel_rows,
                             shape.kernel_columns,
                             shape.channels_in,
                             shape.channels_out,
                             shape.plain_input,
                             shape.depthwise,
                             shape.groups};
    const Tensor& all = *graph_.value(graph_.node(group_.main()).inputs[1]).constant;
    packed_ = graph_.weights().get<LargeMemory>({&all}, format, [&] {
      LargeMemory packed = large_memory(groups_ * size);
      for (Index g = 0; g < groups_; ++g)
        convolution_->pack(weights_ + g * group_weights_, packed.get() + g * size);
      return packed;
    });
    const Index lanes = out_.blocks.lanes;
    bias_ = Tensor(Type::float32, Shape{(out_.blocks.channels + lanes - 1) / lanes * lanes});
    const AnalyzedNode& fact = graph_.node(group_.main());
    if (fact.inputs.size() > 2 && fact.inputs[2] != no_value) {
      const Tensor& bias = *graph_.value(fact.inputs[2]).constant;
      std::memcpy(bias_.data<float>(), bias.data<float>(), bias.bytes().size());
    }
    blocks_out_ = shape.channels_out / lanes;  // of a group, if there are several
    blocks_in_ = shape.channels_in / lanes;
  }

  // Copies the plain image and surrounds it by its padding.
  void pad(Index image, RunState& state) const {
    const Index plane = window_.in[0] * window_.in[1], padded = padded_rows_ * padded_columns_;
    const auto floats = static_cast<double>(channels_ * padded);
    const Index some = (padded_rows_ + threads_ - 1) / threads_;
    state.each(threads_, floats * nanoseconds_an_element, [&](Index part, Index) {
      const Index first = part * some, end = std::min(first + some, padded_rows_);
      for (Index c = 0; c < channels_; ++c) {
        const float* const from = input_memory_ + (image * channels_ + c) * plane;
        for (Index row = first; row < end; ++row)
          pad_row(from, row, padded_memory_ + c * padded + row * padded_columns_);
      }
    });
  }
  void pad_row(const float* from, Index row, float* to) const {
    const Index y = row - window_.pad_begin[0], columns = window_.in[1];
    if (y < 0 || y >= window_.in[0]) {
      std::fill(to, to + padded_columns_, 0.0f);
      return;
    }
    float* const inside = to + window_.pad_begin[1];
    std::fill(to, inside, 0.0f);
    std::copy_n(from + y * columns, columns, inside);
    std::fill(inside + columns, to + padded_columns_, 0.0f);
  }

  BlockedImage input(Index image, Index group) const {
    if (pads_) return {padded_memory_, 1, padded_columns_, padded_rows_ * padded_columns_};
    if (plain_) {
      const Index plane = window_.in[0] * window_.in[1];
      return {input_memory_ + image * channels_ * plane, 1, window_.in[1], plane};
    }
    BlockedImage view = oriented(in_.blocks.image_view(input_memory_, image));
    view.data += group * blocks_in_ * view.block - window_.pad_begin[0] * view.row -
                 window_.pad_begin[1] * view.column;
    return view;
  }

  BlockedImage oriented(const BlockedImage& image) const { return as_row_ ? turned(image) : image; }

  void compute(Index image, Index group, Index part, Index first, float* scratch) const {
    const BlockedImage in = input(image, group);
    BlockedImage out = oriented(out_.blocks.image_view(out_memory_, image)), residual{};
    const Index shift = group * blocks_out_;
    out.data += shift * out.block;
    if (group_.residual != no_value) {
      residual = oriented(residual_.blocks.image_view(residual_memory_, image));
      residual.data += shift * residual.block;
    }
    const Index end = std::min(first + rows_, window_.out[0]);
    const Index step = region_ ? region_rows_ : end - first;
    const auto [first_block, blocks] = convolution_->blocks_of(part);
    const Index weights = convolution_->packed_size();
    const float* const packed =
        group_.factors == no_value ? packed_->get() + group * weights : scaled_memory_;
    const PrefetchHint next = group + 1 < groups_    ? PrefetchHint{packed + weights, weights}
                              : end < window_.out[0] ? PrefetchHint{}
                                                     : prefetch_;
    for (Index row = first; row < end; row += step) {
      const Index rows = std::min(step, end - row);
      convolution_->run(in, {packed, weights_ + group * group_weights_},
                        bias_.data<float>() + shift * out_.blocks.lanes,
                        group_.residual != no_value ? &residual : nullptr, out, group_.min,
                        group_.max, part, row, rows, scratch, next);
      if (region_) {
        const Index high = as_row_ ? out_.blocks.rows : rows;
        region_->run(region_->kernels().rows_of(shift + first_block, blocks, row, high), image,
                     scratch + region_scratch_);
      }
    }
  }

  const AnalyzedGraph& graph_;
  const Group group_;
  const bool as_row_;
  const Window window_;
  Index input_, groups_, channels_ = 0, threads_ = 1;
  bool plain_ = false, pads_ = false;
  bool by_weights_ = false;  // weights exceed the input: threads split the weights
  Index from_ = no_value, padded_ = no_value, padded_rows_ = 0, padded_columns_ = 0;
  Blocked in_, residual_, factors_, out_;
  Index scaled_ = no_value;  // weights times factors
  std::optional<BlockedRegion> region_;
  std::optional<Convolution> convolution_;
  std::shared_ptr<const LargeMemory> packed_;
  Tensor kept_weights_;
  const float* weights_ = nullptr;  // as in the model; group_weights_ floats per group
  Index group_weights_ = 0;
  PrefetchHint prefetch_;
  Tensor bias_;
  Index blocks_in_ = 0, blocks_out_ = 0;
  float *input_memory_ = nullptr, *padded_memory_ = nullptr, *residual_memory_ = nullptr,
        *factors_memory_ = nullptr, *scaled_memory_ = nullptr, *out_memory_ = nullptr;
  double nanoseconds_ = 0;  // of an image
  Index rows_ = 1, chunks_ = 1, region_rows_ = 1, scratch_ = 0, region_scratch_ = 0;
};

}  // namespace

void build_convolution(Builder& builder, const Group& group) {
  if (group.blocks) {
    auto step = std::make_unique<OnConvolution>(builder, group);
    builder.add(std::move(step), group.nodes);
    return;
  }
  // The region needs plain tensors, so it becomes a step of its own.
  const auto& [own, rest] = apart(group);
  auto step = std::make_unique<OnConvolution>(builder, own);
  builder.add(std::move(step), own.nodes);
  if (!rest) return;
  builder.needs<Component::elements>();
  build_pointwise(builder, *rest);
}

}  // namespace touchstone::optimized
