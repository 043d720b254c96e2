// From plain tensors to blocks of channels and back.
#include <algorithm>
#include <cstring>

#include "optimized/plan/steps.h"

namespace touchstone {

void clear_halo(const Blocks& blocks, float* memory) {
  const Halo& halo = blocks.halo;
  if (halo.empty()) return;
  const auto zero = [](float* from, Index floats) {
    std::memset(from, 0, static_cast<std::size_t>(floats) * sizeof(float));
  };
  const Index row = blocks.row(), left = halo.left * blocks.lanes,
              right = halo.right * blocks.lanes;
  for (Index k = 0; k < blocks.images * blocks.blocks(); ++k) {
    float* const block = memory + k * blocks.block();
    zero(block, halo.top * row + left);
    for (Index y = 0; y + 1 < blocks.rows; ++y) {
      zero(block + (halo.top + y) * row + row - right, right + left);
    }
    zero(block + (halo.top + blocks.rows) * row - right, right + halo.bottom * row);
  }
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
      const Picture to = b.picture(to_, image);
      const Index lanes = std::min(b.lanes, b.channels - block * b.lanes),
                  plane = b.rows * b.columns;
      const float* const from = from_ + (image * b.channels + block * b.lanes) * plane;
      for (Index y = 0; y < b.rows; ++y) {
        float* const row = to.data + block * to.block + y * to.row;
        for (Index x = 0; x < b.columns; ++x) {
          for (Index c = 0; c < lanes; ++c)
            row[x * b.lanes + c] = from[c * plane + y * b.columns + x];
          for (Index c = lanes; c < b.lanes; ++c) row[x * b.lanes + c] = 0;
        }
      }
    });
  }

 private:
  const Index plain_;
  const Blocked blocked_;
  const float* from_ = nullptr;
  float* to_ = nullptr;
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
      const Picture from = b.picture(from_, image);
      const Index lanes = std::min(b.lanes, b.channels - block * b.lanes),
                  plane = b.rows * b.columns;
      float* const to = to_ + (image * b.channels + block * b.lanes) * plane;
      for (Index y = 0; y < b.rows; ++y) {
        const float* const row = from.data + block * from.block + y * from.row;
        for (Index c = 0; c < lanes; ++c) {
          for (Index x = 0; x < b.columns; ++x)
            to[c * plane + y * b.columns + x] = row[x * b.lanes + c];
        }
      }
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
