// Pools on blocks.
#include <cstring>

#include "optimized/kernels/pool.h"
#include "optimized/plan/steps.h"
#include "optimized/registry/registry.h"

namespace touchstone {
namespace {

class OnPool : public Step {
 public:
  OnPool(Builder& builder, const Group& group) : window_(group.window) {
    const NodeFact& fact = builder.outline().node(group.main());
    const Role role = role_of(*fact.node->signature);
    in_ = builder.blocked(fact.inputs[0]);
    out_ = builder.make_blocked(group.made);
    const bool mean = role == Role::average_pool || role == Role::global_average;
    whole_ = role == Role::global_average && is_empty(out_.blocks.halo);
    const bool padding = mean && fact.attributes().integer("count_include_pad") != 0;
    pool_.emplace(chosen_isa(), mean ? PoolKind::mean : PoolKind::largest, along(0, padding),
                  along(1, padding));
    kernel = (mean ? "mean pool " : "max pool ") + std::string(name(chosen_isa()));
  }
  void bind(const Memory& memory) override {
    from_ = memory.at(in_.buffer);
    to_ = memory.at(out_.buffer);
  }
  void run(RunState& state) override {
    clear_halo(out_.blocks, to_);
    const Index blocks = out_.blocks.blocks();
    state.pool.each(out_.blocks.images * blocks, [&](Index part, Index) {
      Picture in = in_.blocks.picture(from_, part / blocks);
      Picture out = out_.blocks.picture(to_, part / blocks);
      in.data += part % blocks * in.block;
      out.data += part % blocks * out.block;
      if (whole_) {
        mean_of_all(chosen_isa(), in, in_.blocks.rows, in_.blocks.columns, 1, out.data);
      } else {
        pool_->run(in, out, out_.blocks.columns, 1, 0, out_.blocks.rows);
      }
    });
  }

 private:
  PoolWindow along(int d, bool padding) const {
    const Window& w = window_;
    return {w.kernel[d],
            w.stride[d],
            w.dilation[d],
            w.before[d],
            w.in[d],
            padding ? -w.before[d] : 0,
            padding ? w.in[d] + w.after[d] : w.in[d]};
  }

  const Window window_;
  Blocked in_, out_;
  bool whole_ = false;
  std::optional<Pool> pool_;
  float *from_ = nullptr, *to_ = nullptr;
};

// Maps side by side along the channels.
class OnJoin : public Step {
 public:
  OnJoin(Builder& builder, const Group& group) {
    Index block = 0;
    for (const Index input : builder.outline().node(group.main()).inputs) {
      in_.push_back({builder.blocked(input), block, nullptr});
      block += in_.back().from.blocks.blocks();
    }
    out_ = builder.make_blocked(group.made);
    for (Part& part : in_) {
      part.in_place = part.from.buffer == out_.buffer &&
                      part.from.blocks.first_block == out_.blocks.first_block + part.block;
    }
    kernel = "join blocks";
  }
  void bind(const Memory& memory) override {
    for (Part& part : in_) part.memory = memory.at(part.from.buffer);
    to_ = memory.at(out_.buffer);
  }
  void run(RunState& state) override {
    clear_halo(out_.blocks, to_);
    const Blocks& b = out_.blocks;
    const Index row_bytes = b.columns * b.lanes * static_cast<Index>(sizeof(float));
    state.pool.each(b.images * b.blocks(), [&](Index k, Index) {
      const Index image = k / b.blocks(), block = k % b.blocks();
      const Part* from = &in_.front();
      for (const Part& part : in_) {
        if (part.block <= block) from = &part;
      }
      if (from->in_place) return;
      const Picture in = from->from.blocks.picture(from->memory, image);
      const Picture out = b.picture(to_, image);
      for (Index y = 0; y < b.rows; ++y) {
        std::memcpy(out.data + block * out.block + y * out.row,
                    in.data + (block - from->block) * in.block + y * in.row,
                    static_cast<std::size_t>(row_bytes));
      }
    });
  }

 private:
  struct Part {
    Blocked from;
    Index block;  // where it begins
    float* memory;
    bool in_place = false;  // it was made where it belongs
  };
  std::vector<Part> in_;
  Blocked out_;
  float* to_ = nullptr;
};

}  // namespace

void build_pool(Builder& builder, const Group& group) {
  auto step = std::make_unique<OnPool>(builder, group);
  builder.add(std::move(step), group.nodes);
}

void build_join(Builder& builder, const Group& group) {
  if (!group.blocks) {  // they begin inside of a block, or lie plain
    return is_move(builder.outline(), group.main()) ? build_move(builder, group)
                                                    : builder.on_reference(group.main());
  }
  auto step = std::make_unique<OnJoin>(builder, group);
  builder.add(std::move(step), group.nodes);
}

}  // namespace touchstone
