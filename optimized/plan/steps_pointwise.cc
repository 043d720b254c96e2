// Pointwise region steps, on tensors or on channel blocks, and the region code that convolution
// steps use.
#include <algorithm>

#include "core/error.h"
#include "optimized/lowering/lowering.h"
#include "optimized/plan/steps.h"
#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

constexpr std::size_t max_externals = 39;
constexpr Index slice_elements = 8192;  // so that intermediate values stay in L1

StridedTensor blocked_tensor(const Blocks& blocks, float* memory) {
  // A single channel is broadcast over the lanes; the other lanes of its block are unused.
  const bool spread = blocks.channels == 1;
  return {{blocks.blocks(), blocks.rows, blocks.columns, spread ? 1 : blocks.lanes},
          memory + blocks.origin(),
          {blocks.block(), blocks.row(), blocks.lanes, 1}};
}

}  // namespace

// -- on blocks

BlockedRegion::BlockedRegion(const AnalyzedGraph& graph, const Region& region, const Blocks& output)
    : graph_(graph), region_(region), output_(output) {}

bool BlockedRegion::fits(const AnalyzedGraph& graph, const Region& region) {
  const Shape& shape = region.shape;
  if (shape.size() != 3 && shape.size() != 4) return false;
  for (const Index external : region.externals) {
    const AnalyzedValue& fact = graph.value(external);
    const Shape& from = *fact.shape;
    if (count(from) == 1 && fact.constant) continue;
    if (fact.constant) {
      if (from.size() == shape.size() && from[0] != 1) return false;  // differs per image
      continue;
    }
    if (from.size() != shape.size() || from[0] != shape[0]) return false;
  }
  return true;
}

bool BlockedRegion::takes(const AnalyzedGraph& graph, const Region& region, Index lanes) {
  if (!fits(graph, region) || region.externals.size() > max_externals) return false;
  BlockedRegion asked(graph, region, Blocks::of(region.shape, lanes, {}));
  for (const Index external : region.externals) {
    const bool constant = graph.value(external).constant != nullptr;
    asked.externals_.push_back(
        {no_value, constant ? Blocks{} : Blocks::of(*graph.value(external).shape, lanes, {})});
  }
  class Nowhere : public Memory {
    float* at(Index) const override { return nullptr; }
  };
  try {
    return asked.bind(Nowhere(), nullptr, 2);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::invalid_input) throw;
    return false;  // an operator that does not broadcast, of one channel or one element
  }
}

void BlockedRegion::prefetch(Builder& builder) {
  for (const Index external : region_.externals) {
    if (graph_.value(external).constant) {
      externals_.push_back({no_value, {}});
    } else {
      externals_.push_back(builder.blocked(external));
    }
  }
}

// Converts a constant of shape [C, H, W] or less, with or without a leading 1, into blocks.
StridedTensor BlockedRegion::constant(const Tensor& tensor) {
  const Index rank = region_.shape.size(), lanes = output_.lanes;
  if (tensor.size() == 1)
    return {tensor.shape(), tensor.data<float>(), IndexVector(tensor.shape().size(), 0)};
  const auto size = [&](Index from_back) {
    return from_back <= tensor.shape().size() ? tensor.shape()[tensor.shape().size() - from_back]
                                              : 1;
  };
  const Index columns = size(1), rows = rank == 4 ? size(2) : 1, channels = size(rank - 1);
  const bool spread = channels == 1;
  const Index blocks = spread ? 1 : ceil_div(channels, lanes), inner = spread ? 1 : lanes;
  std::vector<float>& made =
      constants_.emplace_back(static_cast<std::size_t>(blocks * rows * columns * inner));
  for (Index c = 0; c < channels; ++c) {
    for (Index at = 0; at < rows * columns; ++at) {
      made[static_cast<std::size_t>(((c / inner) * rows * columns + at) * inner + c % inner)] =
          tensor.data<float>()[c * rows * columns + at];
    }
  }
  const Shape shape{blocks, rows, columns, inner};
  return {shape, made.data(), dense_strides(shape)};
}

bool BlockedRegion::bind(const Memory& memory, float* output, Index movable) {
  std::vector<StridedTensor> tensors;
  constants_.clear();
  constants_.reserve(region_.externals.size());
  shift_.clear();
  const Shape whole{output_.blocks(), output_.rows, output_.columns, output_.lanes};
  for (std::size_t k = 0; k < region_.externals.size(); ++k) {
    const AnalyzedValue& fact = graph_.value(region_.externals[k]);
    if (fact.constant) {
      tensors.push_back(constant(*fact.constant));
      shift_.push_back(0);
    } else {
      tensors.push_back(blocked_tensor(externals_[k].blocks, memory.at(externals_[k].buffer)));
      shift_.push_back(externals_[k].blocks.image());
    }
  }
  shift_.push_back(output_.image());
  const StridedTensor out{
      whole, output + output_.origin(), {output_.block(), output_.row(), output_.lanes, 1}};
  kernels_ = Pointwise::make(graph_, region_, whole, tensors, out, movable, chosen_isa());
  return kernels_.has_value();
}

void BlockedRegion::run(const Pointwise::Box& box, Index image, float* scratch) const {
  std::array<Index, max_externals + 1> shift;
  for (std::size_t k = 0; k < shift_.size(); ++k) shift[k] = shift_[k] * image;
  kernels_->run(box, scratch, {shift.data(), shift_.size()});
}

namespace {

class OnBlocks : public Step {
 public:
  OnBlocks(Builder& builder, const Group& group)
      : region_(builder.graph(), group.region,
                Blocks::of(group.region.shape, builder.lanes(), {})) {
    region_.prefetch(builder);
    output_ = builder.make_blocked(group.region.output());
    region_.set_output(output_.blocks);
    kernel = "pointwise on blocks " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pointwise;
  }
  void bind(const Memory& memory) override {
    out_ = memory.at(output_.buffer);
    if (!region_.bind(memory, out_, 0)) BUG("a region that fits blocks does not");
    boxes_ = region_.kernels().slices(slice_elements);
    scratch_ = 0;
    for (const Pointwise::Box& box : boxes_)
      scratch_ = std::max(scratch_, region_.kernels().scratch(box));
  }
  Index scratch() const override { return scratch_; }
  void run(RunState& state) override {
    const auto boxes = static_cast<Index>(boxes_.size());
    clear_halo(output_.blocks, out_);
    const auto made = static_cast<double>(output_.blocks.floats());
    state.each(boxes * output_.blocks.images, made * nanoseconds_an_element,
               [&](Index part, Index thread) {
                 region_.run(boxes_[static_cast<std::size_t>(part % boxes)], part / boxes,
                             state.scratch[static_cast<std::size_t>(thread)]);
               });
  }

 private:
  BlockedRegion region_;
  Blocked output_;
  float* out_ = nullptr;
  std::vector<Pointwise::Box> boxes_;
  Index scratch_ = 0;
};

// -- on tensors

class OnTensors : public Step {
 public:
  OnTensors(Builder& builder, const Group& group) : graph_(builder.graph()), region_(group.region) {
    for (const Index external : region_.externals) externals_.push_back(builder.plain(external));
    output_ = builder.make_plain(region_.output());
    kernel = "pointwise " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pointwise;
  }
  void bind(const Memory& memory) override {
    std::vector<StridedTensor> tensors;
    for (std::size_t k = 0; k < externals_.size(); ++k) {
      const Shape& shape = *graph_.value(region_.externals[k]).shape;
      tensors.push_back({shape, memory.at(externals_[k]), dense_strides(shape)});
    }
    const StridedTensor out{region_.shape, memory.at(output_), dense_strides(region_.shape)};
    kernels_ = Pointwise::make(graph_, region_, region_.shape, tensors, out, 0, chosen_isa());
    if (!kernels_) BUG("a region that fits tensors does not");
    boxes_ = kernels_->slices(slice_elements);
    for (const Pointwise::Box& box : boxes_) scratch_ = std::max(scratch_, kernels_->scratch(box));
    shift_.assign(externals_.size() + 1, 0);
  }
  Index scratch() const override { return scratch_; }
  void run(RunState& state) override {
    state.pool.each(static_cast<Index>(boxes_.size()), [&](Index part, Index thread) {
      kernels_->run(boxes_[static_cast<std::size_t>(part)],
                    state.scratch[static_cast<std::size_t>(thread)], shift_);
    });
  }

 private:
  const AnalyzedGraph& graph_;
  const Region region_;
  std::vector<Index> externals_;
  Index output_;
  std::optional<Pointwise> kernels_;
  std::vector<Pointwise::Box> boxes_;
  std::vector<Index> shift_;
  Index scratch_ = 0;
};

// True if the kernels accept the region; recorded on null addresses.
bool takes_tensors(const AnalyzedGraph& graph, const Region& region) {
  std::vector<StridedTensor> tensors;
  for (const Index external : region.externals) {
    const Shape& shape = *graph.value(external).shape;
    tensors.push_back({shape, nullptr, dense_strides(shape)});
  }
  const StridedTensor out{region.shape, nullptr, dense_strides(region.shape)};
  return Pointwise::make(graph, region, region.shape, tensors, out, 0, chosen_isa()).has_value();
}

}  // namespace

void build_pointwise(Builder& builder, const Group& group) {
  const AnalyzedGraph& graph = builder.graph();
  if (group.blocks) {
    auto step = std::make_unique<OnBlocks>(builder, group);
    builder.add(std::move(step), group.nodes);
  } else if (takes_tensors(graph, group.region)) {
    auto step = std::make_unique<OnTensors>(builder, group);
    builder.add(std::move(step), group.nodes);
  } else {
    for (const PointwiseOp& op : group.region.ops) {
      if (const KernelFamily* const family = family_of(graph, op.node)) {
        builder.on_family(op.node, *family);
      } else {
        builder.on_kernel(op.node);
      }
      if (op.second != no_value) builder.on_family(op.second, *family_of(graph, op.second));
    }
  }
}

}  // namespace touchstone::optimized
