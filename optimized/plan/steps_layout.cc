// From plain tensors to blocks of channels and back.
#include <algorithm>

#include "optimized/plan/steps.h"

namespace touchstone {

void clear_halo(const Blocks& blocks, float* memory) {
  if (is_empty(blocks.halo)) return;
  for (Index image = 0; image < blocks.images; ++image)
    clear_halo(chosen_isa(), blocks.picture(memory, image), blocks.area(), blocks.halo);
}

namespace {

class ToBlocks : public Step {
 public:
  ToBlocks(Index plain, const Blocked& blocked) : plain_(plain), blocked_(blocked) {
    kernel = "to blocks";
  }
  void bind(const Memory& memory) override {
    from_ = memory.at(plain_);
    to_ = memory.at(blocked_.buffer);
  }
  void run(RunState& state) override {
    const Blocks& b = blocked_.blocks;
    clear_halo(b, to_);
    state.pool.each(b.images * b.blocks(), [&](Index part, Index) {
      const Index image = part / b.blocks(), block = part % b.blocks();
      Picture to = b.picture(to_, image);
      to.data += block * to.block;
      const Index channels = std::min(b.lanes, b.channels - block * b.lanes);
      const Index plane = b.rows * b.columns;
      float* const from = from_ + (image * b.channels + block * b.lanes) * plane;
      touchstone::to_blocks(chosen_isa(), {from, b.columns, plane}, to,
                            {channels, b.rows, b.columns});
    });
  }

 private:
  const Index plain_;
  const Blocked blocked_;
  float *from_ = nullptr, *to_ = nullptr;
};

class ToPlain : public Step {
 public:
  ToPlain(const Blocked& blocked, Index plain) : plain_(plain), blocked_(blocked) {
    kernel = "from blocks";
  }
  void bind(const Memory& memory) override {
    to_ = memory.at(plain_);
    from_ = memory.at(blocked_.buffer);
  }
  void run(RunState& state) override {
    const Blocks& b = blocked_.blocks;
    state.pool.each(b.images * b.blocks(), [&](Index part, Index) {
      const Index image = part / b.blocks(), block = part % b.blocks();
      Picture from = b.picture(from_, image);
      from.data += block * from.block;
      const Index channels = std::min(b.lanes, b.channels - block * b.lanes);
      const Index plane = b.rows * b.columns;
      float* const to = to_ + (image * b.channels + block * b.lanes) * plane;
      from_blocks(chosen_isa(), from, {to, b.columns, plane}, {channels, b.rows, b.columns});
    });
  }

 private:
  const Index plain_;
  const Blocked blocked_;
  float *to_ = nullptr, *from_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> to_blocks(Index plain, const Blocked& blocked, Isa) {
  return std::make_unique<ToBlocks>(plain, blocked);
}
std::unique_ptr<Step> to_plain(const Blocked& blocked, Index plain, Isa) {
  return std::make_unique<ToPlain>(blocked, plain);
}

}  // namespace touchstone
