// Transposed convolution steps on channel blocks. Each set of output points that read the same taps
// is an ordinary convolution. It is computed into scratch some rows at a time, then copied with the
// stride of the output.
//
// If windows are disjoint and all outputs of a point fit into one block, a single 1x1 convolution
// computes them (OnSpread). Its lanes are then interleaved into a plain tensor.
#include <algorithm>

#include "optimized/kernels/convolution.h"
#include "optimized/plan/large.h"
#include "optimized/plan/steps.h"
#include "optimized/problems/transposed.h"

namespace touchstone::optimized {
namespace {

constexpr Index chunk_floats = 16384;  // floats computed before they are copied

const Tensor& weights_of(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  return *graph.value(fact.inputs[1]).constant;
}

// Time of one thread.
double nanoseconds_of(const Window& window, const Tensor& weights, Index images) {
  return static_cast<double>(weights.size()) * static_cast<double>(images) *
         static_cast<double>(window.in[0]) * static_cast<double>(window.in[1]) *
         nanoseconds_a_multiply_add;
}

// Returns a bias per lane of `channels` channels; each is repeated for `times` consecutive lanes.
std::vector<float> bias_of(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index channels,
                           Index times, Index lanes) {
  std::vector<float> made(static_cast<std::size_t>((channels * times + lanes - 1) / lanes * lanes));
  if (fact.inputs.size() < 3 || fact.inputs[2] == no_value) return made;
  const Tensor& bias = *graph.value(fact.inputs[2]).constant;
  for (Index k = 0; k < channels * times; ++k)
    made[static_cast<std::size_t>(k)] = bias.data<float>()[k / times];
  return made;
}

Index rows_at_once(Index row, Index rows, Index images, Index threads) {
  const Index fit = std::clamp<Index>(chunk_floats / row, 1, rows);
  if (threads == 1) return fit;
  const Index pieces = std::clamp<Index>(parts_for(threads) / images, 1, rows);
  return std::min(fit, (rows + pieces - 1) / pieces);
}

class OnTransposed : public Step {
 public:
  OnTransposed(Builder& builder, const Group& group)
      : group_(group),
        window_(group.window),
        lanes_(builder.lanes()),
        shared_(builder.graph().weights()) {
    const AnalyzedGraph& graph = builder.graph();
    const AnalyzedNode& fact = graph.node(group.main());
    in_ = builder.blocked(fact.inputs[0]);
    if (!group.region.empty()) {
      region_.emplace(graph, group.region, Blocks::of(group.region.shape, lanes_, {}));
      region_->prefetch(builder);
    }
    out_ = builder.make_blocked(group.output());
    if (region_) region_->set_output(out_.blocks);
    bias_ = bias_of(graph, fact, out_.blocks.channels, 1, lanes_);
    const auto phases = [&](int d) {
      return phases_of(window_.kernel[d], window_.stride[d], window_.dilation[d],
                       window_.pad_begin[d], window_.out[d]);
    };
    for (const OutputPhase& rows : phases(0)) {
      for (const OutputPhase& columns : phases(1)) add(rows, columns, weights_of(graph, fact));
    }
    const OutputPhase& max = sets_.front().rows;  // the first set is the longest
    row_ = out_.blocks.blocks() * sets_.front().columns.count * lanes_;
    rows_ = rows_at_once(row_, max.count, out_.blocks.images, builder.threads());
    chunks_ = (max.count + rows_ - 1) / rows_;
    nanoseconds_ = nanoseconds_of(window_, weights_of(graph, fact), out_.blocks.images);
    if (region_)
      nanoseconds_ += static_cast<double>(count(group.region.shape)) * nanoseconds_an_element;
    kernel = "transposed convolution " + std::string(name(chosen_isa())) + " " +
             sets_.front().convolution.kernels_chosen();
    kernel_class = KernelClass::transposed_convolution;
  }

  void bind(const Memory& memory) override {
    input_memory_ = memory.at(in_.buffer);
    out_memory_ = memory.at(out_.buffer);
    scratch_ = rows_ * row_;
    if (!region_) return;
    if (!region_->bind(memory, out_memory_, 2)) BUG("a region that fits blocks does not");
    scratch_ = std::max(scratch_, region_->kernels().scratch(region_->kernels().rows_of(
                                      0, out_.blocks.blocks(), 0, rows_ * window_.stride[0])));
  }
  Index scratch() const override { return scratch_; }

  void run(RunState& state) override {
    clear_halo(out_.blocks, out_memory_);
    state.each(out_.blocks.images * chunks_, nanoseconds_, [&](Index k, Index thread) {
      float* const scratch = state.scratch[static_cast<std::size_t>(thread)];
      const Index image = k / chunks_, first = k % chunks_ * rows_;
      for (const Set& set : sets_) compute(set, image, first, scratch);
      if (!region_) return;
      const Index row = first * window_.stride[0];
      const Index rows = std::min(rows_ * window_.stride[0], window_.out[0] - row);
      region_->run(region_->kernels().rows_of(0, out_.blocks.blocks(), row, rows), image, scratch);
    });
  }

 private:
  struct Set {
    OutputPhase rows, columns;
    Convolution convolution;
    std::shared_ptr<const LargeMemory> packed;
  };

  void add(const OutputPhase& rows, const OutputPhase& columns, const Tensor& weights) {
    ConvolutionShape shape;
    shape.kernel_rows = static_cast<Index>(rows.taps.size());
    shape.kernel_columns = static_cast<Index>(columns.taps.size());
    shape.row_dilation = rows.spread;
    shape.column_dilation = columns.spread;
    shape.rows_out = rows.count;
    shape.columns_out = columns.count;
    shape.channels_in = weights.shape()[0];
    shape.channels_out = weights.shape()[1];
    Convolution convolution(chosen_isa(), shape, ConvolutionAlgorithm::direct);
    IndexVector format{shape.kernel_rows};
    for (const std::vector<Index>* taps : {&rows.taps, &columns.taps})
      format.append(taps->data(), taps->data() + taps->size());
    auto packed = shared_.get<LargeMemory>(
        {&weights}, format, [&] { return packed_taps(rows, columns, weights, convolution); });
    sets_.push_back({rows, columns, std::move(convolution), std::move(packed)});
  }

  LargeMemory packed_taps(const OutputPhase& rows, const OutputPhase& columns,
                          const Tensor& weights, const Convolution& convolution) const {
    std::vector<float> some;  // [out][in][tap of a row][tap of a column]
    const Index channels_in = weights.shape()[0], channels_out = weights.shape()[1];
    for (Index out = 0; out < channels_out; ++out) {
      for (Index in = 0; in < channels_in; ++in) {
        const float* const all = weights.data<float>() +
                                 (in * channels_out + out) * window_.kernel[0] * window_.kernel[1];
        for (const Index row : rows.taps) {
          for (const Index column : columns.taps)
            some.push_back(all[row * window_.kernel[1] + column]);
        }
      }
    }
    LargeMemory packed = large_memory(convolution.packed_size());
    convolution.pack(some.data(), packed.get());
    return packed;
  }

  void compute(const Set& set, Index image, Index first, float* scratch) const {
    const Index rows = std::min(rows_, set.rows.count - first), columns = set.columns.count;
    if (rows <= 0) return;
    BlockedImage in = in_.blocks.image_view(input_memory_, image);
    in.data += (first + set.rows.from) * in.row + set.columns.from * in.column;
    const BlockedImage made{scratch, lanes_, columns * lanes_, rows * columns * lanes_};
    for (Index part = 0; part < set.convolution.parts(); ++part) {
      set.convolution.run(in, {set.packed->get()}, bias_.data(), nullptr, made, group_.min,
                          group_.max, part, 0, rows, nullptr);
    }
    BlockedImage out = out_.blocks.image_view(out_memory_, image);
    out.data +=
        (first * window_.stride[0] + set.rows.first) * out.row + set.columns.first * out.column;
    out.row *= window_.stride[0];
    out.column *= window_.stride[1];
    copy_blocks(chosen_isa(), made, out, {out_.blocks.blocks(), rows, columns});
  }

  const Group group_;
  const Window window_;
  const Index lanes_;
  SharedWeights& shared_;
  Blocked in_, out_;
  std::optional<BlockedRegion> region_;
  std::vector<Set> sets_;
  std::vector<float> bias_;
  float *input_memory_ = nullptr, *out_memory_ = nullptr;
  Index row_ = 1, rows_ = 1, chunks_ = 1, scratch_ = 0;
  double nanoseconds_ = 0;
};

class OnSpread : public Step {
 public:
  OnSpread(Builder& builder, const Group& group)
      : group_(group), window_(group.window), lanes_(builder.lanes()) {
    const AnalyzedGraph& graph = builder.graph();
    const AnalyzedNode& fact = graph.node(group.main());
    const Tensor& weights = weights_of(graph, fact);
    channels_ = weights.shape()[1];
    const Index points = window_.kernel[0] * window_.kernel[1], each = channels_ * points;
    in_ = builder.blocked(fact.inputs[0]);
    out_ = builder.make_plain(group.made);
    ConvolutionShape shape;
    shape.channels_in = weights.shape()[0];
    shape.channels_out = each;
    shape.rows_out = window_.in[0];
    shape.columns_out = window_.in[1];
    convolution_.emplace(chosen_isa(), shape, ConvolutionAlgorithm::direct);
    packed_ = graph.weights().get<LargeMemory>({&weights}, {each}, [&] {
      std::vector<float> turned;
      for (Index out = 0; out < each; ++out) {
        for (Index in = 0; in < shape.channels_in; ++in)
          turned.push_back(weights.data<float>()[in * each + out]);
      }
      LargeMemory packed = large_memory(convolution_->packed_size());
      convolution_->pack(turned.data(), packed.get());
      return packed;
    });
    bias_ = bias_of(graph, fact, channels_, points, lanes_);
    rows_ =
        rows_at_once(window_.in[1] * lanes_, window_.in[0], in_.blocks.images, builder.threads());
    nanoseconds_ = nanoseconds_of(window_, weights, in_.blocks.images);
    kernel = "transposed convolution " + std::string(name(chosen_isa())) + " " +
             convolution_->kernels_chosen() + ", spread";
    kernel_class = KernelClass::transposed_convolution;
  }
  void bind(const Memory& memory) override {
    input_memory_ = memory.at(in_.buffer);
    out_memory_ = memory.at(out_);
  }
  Index scratch() const override { return rows_ * window_.in[1] * lanes_; }

  void run(RunState& state) override {
    const Index chunks = (window_.in[0] + rows_ - 1) / rows_;
    state.each(in_.blocks.images * chunks, nanoseconds_, [&](Index k, Index thread) {
      compute(k / chunks, k % chunks * rows_, state.scratch[static_cast<std::size_t>(thread)]);
    });
  }

 private:
  void compute(Index image, Index first, float* scratch) const {
    const Index rows = std::min(rows_, window_.in[0] - first), columns = window_.in[1];
    BlockedImage in = in_.blocks.image_view(input_memory_, image);
    in.data += first * in.row;
    const BlockedImage made{scratch, lanes_, columns * lanes_, rows * columns * lanes_};
    convolution_->run(in, {packed_->get()}, bias_.data(), nullptr, made, group_.min, group_.max, 0,
                      0, rows, nullptr);
    for (Index c = 0; c < channels_; ++c) {
      for (Index row = 0; row < rows * window_.stride[0]; ++row) {
        const Index lane = (c * window_.stride[0] + row % window_.stride[0]) * window_.stride[1];
        const Index plane = (image * channels_ + c) * window_.out[0];
        copy_lanes(chosen_isa(), scratch + row / window_.stride[0] * made.row + lane, lanes_,
                   out_memory_ + (plane + first * window_.stride[0] + row) * window_.out[1],
                   window_.stride[1], window_.stride[1], columns);
      }
    }
  }

  const Group group_;
  const Window window_;
  const Index lanes_;
  Blocked in_;
  Index out_, channels_ = 1;
  std::optional<Convolution> convolution_;
  std::shared_ptr<const LargeMemory> packed_;
  std::vector<float> bias_;
  float *input_memory_ = nullptr, *out_memory_ = nullptr;
  Index rows_ = 1;
  double nanoseconds_ = 0;
};

}  // namespace

bool is_spread(const Window& w, Index channels, Index lanes) {
  for (const int d : {0, 1}) {
    if (w.kernel[d] != w.stride[d] || w.pad_begin[d] != 0 || w.out[d] != w.in[d] * w.stride[d])
      return false;
    if (w.kernel[d] > 1 && w.dilation[d] != 1) return false;
  }
  return channels * w.kernel[0] * w.kernel[1] <= lanes;
}

void build_transposed(Builder& builder, const Group& group) {
  if (group.blocks) {
    auto step = std::make_unique<OnTransposed>(builder, group);
    return builder.add(std::move(step), group.nodes);
  }
  const auto& [own, rest] = apart(group);
  std::unique_ptr<Step> step;
  if (is_spread(group.window, builder.shape(group.made)[1], builder.lanes())) {
    step = std::make_unique<OnSpread>(builder, own);
  } else {
    step = std::make_unique<OnTransposed>(builder, own);
  }
  builder.add(std::move(step), own.nodes);
  if (!rest) return;
  builder.needs<Component::elements>();
  build_pointwise(builder, *rest);
}

}  // namespace touchstone::optimized
