// Data movement on maps in channel blocks: joins along the channels, and repetition of elements.
#include <algorithm>

#include "optimized/plan/steps.h"

namespace touchstone::optimized {
namespace {

// Splits rows into several parts per thread and calls `each` with an image, a first row and a
// number of rows.
template <class F>
void each_rows(ThreadPool& pool, Index images, Index rows, F each) {
  const Index step = ceil_div(rows * images, pool.size() == 1 ? 1 : pool.size() * 4);
  const Index some = std::min(std::max<Index>(step, 1), rows), parts = ceil_div(rows, some);
  pool.each(images * parts, [&](Index k, Index) {
    const Index first = k % parts * some;
    each(k / parts, first, std::min(some, rows - first));
  });
}

BlockedImage rows_of(BlockedImage view, Index first) {
  view.data += first * view.row;
  return view;
}

// Joins maps along the channels.
class OnJoin : public Step {
 public:
  OnJoin(Builder& builder, const Group& group) {
    Index channel = 0;
    for (const Index input : builder.graph().node(group.main()).inputs) {
      in_.push_back({builder.blocked(input), channel, nullptr});
      channel += in_.back().from.blocks.channels;
    }
    out_ = builder.make_blocked(group.made);
    for (Part& part : in_) {
      part.in_place = part.from.buffer == out_.buffer && part.channel % out_.blocks.lanes == 0 &&
                      part.from.blocks.first_block ==
                          out_.blocks.first_block + part.channel / out_.blocks.lanes;
    }
    kernel = "concat blocks";
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override {
    for (Part& part : in_) part.memory = memory.at(part.from.buffer);
    to_ = memory.at(out_.buffer);
  }
  void run(RunState& state) override {
    clear_halo(out_.blocks, to_);
    const Blocks& b = out_.blocks;
    // In order: copying a part overwrites the unused lanes after the previous part's last channel.
    each_rows(state.pool, b.images, b.rows, [&](Index image, Index first, Index rows) {
      for (const Part& part : in_) {
        if (part.in_place) continue;
        const Blocks& from = part.from.blocks;
        const BlockedImage in = rows_of(from.image_view(part.memory, image), first);
        BlockedImage out = rows_of(b.image_view(to_, image), first);
        if (part.channel % b.lanes == 0) {
          out.data += part.channel / b.lanes * out.block;
          copy_blocks(chosen_isa(), in, out, {from.blocks(), rows, b.columns});
        } else {
          copy_channels(chosen_isa(), in, out, part.channel, {from.channels, rows, b.columns});
        }
      }
    });
  }

 private:
  struct Part {
    Blocked from;
    Index channel;  // its first channel in the output
    float* memory;
    bool in_place = false;  // computed directly into its place
  };
  std::vector<Part> in_;
  Blocked out_;
  float* to_ = nullptr;
};

class OnRepeat : public Step {
 public:
  OnRepeat(Builder& builder, const Group& group) : times_(group.repeat) {
    in_ = builder.blocked(builder.graph().node(group.main()).inputs[0]);
    out_ = builder.make_blocked(group.made);
    kernel = "repeat blocks";
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override {
    from_ = memory.at(in_.buffer);
    to_ = memory.at(out_.buffer);
  }
  void run(RunState& state) override {
    clear_halo(out_.blocks, to_);
    const Blocks& b = in_.blocks;
    each_rows(state.pool, b.images, b.rows, [&](Index image, Index first, Index rows) {
      repeat_blocks(chosen_isa(), rows_of(b.image_view(from_, image), first),
                    rows_of(out_.blocks.image_view(to_, image), first * times_.rows),
                    {b.blocks(), rows, b.columns}, times_.rows, times_.columns);
    });
  }

 private:
  const Repeat times_;
  Blocked in_, out_;
  float *from_ = nullptr, *to_ = nullptr;
};

// Repeats elements of plain images: each row once, whose copies are rows of the output too.
class PlainRepeat : public Step {
 public:
  PlainRepeat(Builder& builder, const Group& group) : times_(group.repeat) {
    const Index x = builder.graph().node(group.main()).inputs[0];
    columns_ = builder.shape(x).back();
    rows_ = count(builder.shape(x)) / columns_;
    in_ = builder.plain(x);
    out_ = builder.make_plain(group.made);
    kernel = "repeat rows";
    kernel_class = KernelClass::copy;
  }
  void bind(const Memory& memory) override {
    from_ = memory.at(in_);
    to_ = memory.at(out_);
  }
  void run(RunState& state) override {
    const Index width = columns_ * times_.columns, height = times_.rows;
    const double cost = static_cast<double>(rows_ * height * width) * nanoseconds_a_copy;
    const Index step = ceil_div(rows_, state.parts(cost));
    state.each(ceil_div(rows_, step), cost, [&](Index part, Index) {
      for (Index row = part * step; row < std::min((part + 1) * step, rows_); ++row) {
        float* const first = to_ + row * height * width;
        repeat_row(from_ + row * columns_, first);
        for (Index k = 1; k < height; ++k) std::copy_n(first, width, first + k * width);
      }
    });
  }

 private:
  static constexpr double nanoseconds_a_copy = 0.2;

  void repeat_row(const float* from, float* to) const {
    const Index times = times_.columns;
    if (times == 1) {
      std::copy_n(from, columns_, to);
    } else if (times == 2) {
      for (Index k = 0; k < columns_; ++k) to[2 * k] = to[2 * k + 1] = from[k];
    } else {
      for (Index k = 0; k < columns_; ++k) std::fill_n(to + k * times, times, from[k]);
    }
  }

  const Repeat times_;
  Index rows_ = 0, columns_ = 0, in_ = no_value, out_ = no_value;
  const float* from_ = nullptr;
  float* to_ = nullptr;
};

}  // namespace

void build_join(Builder& builder, const Group& group) {
  if (!group.blocks) {  // the inputs are plain tensors
    if (!is_data_movement(builder.graph(), group.main())) return builder.on_reference(group.main());
    builder.needs<Component::copy>();
    return build_copy(builder, group);
  }
  auto step = std::make_unique<OnJoin>(builder, group);
  builder.add(std::move(step), group.nodes);
}

void build_repeat(Builder& builder, const Group& group) {
  std::unique_ptr<Step> step;
  if (group.blocks)
    step = std::make_unique<OnRepeat>(builder, group);
  else
    step = std::make_unique<PlainRepeat>(builder, group);
  builder.add(std::move(step), group.nodes);
}

}  // namespace touchstone::optimized
