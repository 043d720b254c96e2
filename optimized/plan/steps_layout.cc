// Conversion steps between plain tensors and channel blocks.
#include <algorithm>

#include "optimized/plan/steps.h"

namespace touchstone::optimized {

void clear_halo(const Blocks& blocks, float* memory) {
  if (is_empty(blocks.halo)) return;
  for (Index image = 0; image < blocks.images; ++image)
    clear_halo(chosen_isa(), blocks.image_view(memory, image), blocks.area(), blocks.halo);
}

namespace {

// Converts in either direction with the same loops.
class ChangeLayout : public Step {
 public:
  enum class To { blocks, plain };
  ChangeLayout(To to, Index plain, const Blocked& blocked)
      : to_(to), plain_(plain), blocked_(blocked) {
    kernel = to == To::blocks ? "to blocks" : "from blocks";
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override {
    plain_memory_ = memory.at(plain_);
    blocked_memory_ = memory.at(blocked_.buffer);
  }
  void run(RunState& state) override {
    const Blocks& b = blocked_.blocks;
    if (to_ == To::blocks) clear_halo(b, blocked_memory_);
    const auto moved = static_cast<double>(b.floats());
    state.each(b.images * b.blocks(), moved * nanoseconds_an_element, [&](Index part, Index) {
      const Index image = part / b.blocks(), block = part % b.blocks();
      BlockedImage blocks = b.image_view(blocked_memory_, image);
      blocks.data += block * blocks.block;
      const Index plane = b.rows * b.columns;
      const PlainImage plain{plain_memory_ + (image * b.channels + block * b.lanes) * plane,
                             b.columns, plane};
      const Area area{std::min(b.lanes, b.channels - block * b.lanes), b.rows, b.columns};
      if (to_ == To::blocks) {
        optimized::to_blocks(chosen_isa(), plain, blocks, area);
      } else {
        from_blocks(chosen_isa(), blocks, plain, area);
      }
    });
  }
  Index bytes_moved() const override {
    const Blocks& b = blocked_.blocks;
    return 2 * b.images * b.channels * b.rows * b.columns * static_cast<Index>(sizeof(float));
  }

 private:
  const To to_;
  const Index plain_;
  const Blocked blocked_;
  float *plain_memory_ = nullptr, *blocked_memory_ = nullptr;
};

}  // namespace

std::unique_ptr<Step> to_blocks(Index plain, const Blocked& blocked) {
  return std::make_unique<ChangeLayout>(ChangeLayout::To::blocks, plain, blocked);
}
std::unique_ptr<Step> to_plain(const Blocked& blocked, Index plain) {
  return std::make_unique<ChangeLayout>(ChangeLayout::To::plain, plain, blocked);
}

}  // namespace touchstone::optimized
