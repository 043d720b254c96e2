// Pooling steps on channel blocks.
#include "optimized/kernels/pool.h"
#include "optimized/plan/steps.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {
namespace {

class OnPool : public Step {
 public:
  OnPool(Builder& builder, const Group& group) : window_(group.window) {
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const OperatorKind op = operator_kind(*fact.node->signature);
    in_ = builder.blocked(fact.inputs[0]);
    out_ = builder.make_blocked(group.made);
    const bool mean = op == OperatorKind::average_pool || op == OperatorKind::global_average;
    whole_ = op == OperatorKind::global_average && is_empty(out_.blocks.halo);
    const bool padding = mean && fact.attributes().integer("count_include_pad") != 0;
    pool_.emplace(chosen_isa(), mean ? PoolKind::mean : PoolKind::largest, along(0, padding),
                  along(1, padding));
    kernel = (mean ? "mean pool " : "max pool ") + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pool;
  }
  void bind(const Memory& memory) override {
    from_ = memory.at(in_.buffer);
    to_ = memory.at(out_.buffer);
  }
  void run(RunState& state) override {
    clear_halo(out_.blocks, to_);
    const Index blocks = out_.blocks.blocks(), rows = out_.blocks.rows;
    // A global mean has one row. Otherwise split by rows, so that a thread most likely reads rows
    // that it wrote itself.
    const Index cuts = whole_ ? 1 : std::min(rows, state.pool.size());
    const Index some = (rows + cuts - 1) / cuts;
    const auto read = static_cast<double>(in_.blocks.floats());
    state.each(out_.blocks.images * cuts * blocks, read * nanoseconds_an_element,
               [&](Index part, Index) {
                 const Index image = part / (cuts * blocks), block = part % blocks;
                 const Index first = part / blocks % cuts * some;
                 BlockedImage in = in_.blocks.image_view(from_, image);
                 BlockedImage out = out_.blocks.image_view(to_, image);
                 in.data += block * in.block;
                 out.data += block * out.block;
                 if (whole_) {
                   mean_of_all(chosen_isa(), in, in_.blocks.rows, in_.blocks.columns, 1, out.data);
                 } else if (first < rows) {
                   pool_->run(in, out, out_.blocks.columns, 1, first, std::min(some, rows - first));
                 }
               });
  }

 private:
  PoolWindow along(int d, bool padding) const {
    const Window& w = window_;
    return {w.kernel[d],
            w.stride[d],
            w.dilation[d],
            w.pad_begin[d],
            w.in[d],
            padding ? -w.pad_begin[d] : 0,
            padding ? w.in[d] + w.pad_end[d] : w.in[d]};
  }

  const Window window_;
  Blocked in_, out_;
  bool whole_ = false;
  std::optional<Pool> pool_;
  float *from_ = nullptr, *to_ = nullptr;
};

}  // namespace

void build_pool(Builder& builder, const Group& group) {
  auto step = std::make_unique<OnPool>(builder, group);
  builder.add(std::move(step), group.nodes);
}

}  // namespace touchstone::optimized
