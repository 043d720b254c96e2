// Max and average pooling. Splits the image into regions whose windows have the same taps inside:
// one in the middle, others along the edges.
#include "optimized/kernels/pool.h"

#include <algorithm>
#include <limits>

#include "optimized/kernels/compiled.h"
#include "reference/lists.h"

namespace touchstone::optimized {

TOUCHSTONE_DECLARE_KERNEL(pool_largest);
TOUCHSTONE_DECLARE_KERNEL(pool_mean);
TOUCHSTONE_DECLARE_KERNEL(pool_whole);

namespace {

struct Taps {
  Index first = 0, count = 0, counted = 0;
  bool operator==(const Taps&) const = default;
};

// Returns the taps of output o's window that read [from, to).
Taps inside(const PoolWindow& w, Index o, Index from, Index to) {
  const auto up = [](Index a, Index b) { return std::max(ceil_div(a, b), Index{0}); };
  const Index start = o * w.stride - w.pad_begin;
  const Index first = std::min(up(from - start, w.dilation), w.size);
  const Index last = std::min(up(to - start, w.dilation), w.size);
  return {first, std::max(last - first, Index{0}), 0};
}

Taps taps(const PoolWindow& w, Index o) {
  Taps taken = inside(w, o, 0, w.image);
  taken.counted = inside(w, o, w.counted_from, w.counted_to).count;
  return taken;
}

// Calls `region` for each maximal run of outputs of [first, last) that have the same taps.
template <class F>
void regions(const PoolWindow& w, Index first, Index last, F region) {
  for (Index o = first; o < last;) {
    const Taps taken = taps(w, o);
    Index end = o + 1;
    while (end < last && taps(w, end) == taken) ++end;
    region(o, end - o, taken);
    o = end;
  }
}

}  // namespace

void Pool::run(const BlockedImage& input, const BlockedImage& output, Index columns, Index blocks,
               Index first_row, Index rows) const {
  static const CompiledSet largest = TOUCHSTONE_KERNEL(pool_largest),
                           mean = TOUCHSTONE_KERNEL(pool_mean);
  const backends::CompiledKernel kernel = of(kind_ == PoolKind::largest ? largest : mean, isa_);
  const Index lanes = lanes_of(isa_);
  if (blocks == 0) return;
  regions(rows_, first_row, first_row + rows, [&](Index y, Index high, const Taps& down) {
    regions(columns_, 0, columns, [&](Index x, Index wide, const Taps& along) {
      const Index from =
          (y * rows_.stride - rows_.pad_begin + down.first * rows_.dilation) * input.row +
          (x * columns_.stride - columns_.pad_begin + along.first * columns_.dilation) *
              input.column;
      const bool none = down.count == 0 || along.count == 0;
      Strided<6> in(none ? input.data : input.data + from,
                    {lanes, along.count, wide, down.count, high, blocks},
                    {1, columns_.dilation * input.column, columns_.stride * input.column,
                     rows_.dilation * input.row, rows_.stride * input.row, input.block});
      Strided<4> out(output.data + y * output.row + x * output.column, {lanes, wide, high, blocks},
                     {1, output.column, output.row, output.block});
      float counted = static_cast<float>(down.counted * along.counted);
      call_compiled(kernel, {in.argument(), &counted, out.argument()});
    });
  });
}

void mean_of_all(Isa isa, const BlockedImage& input, Index rows, Index columns, Index blocks,
                 float* output) {
  static const CompiledSet whole = TOUCHSTONE_KERNEL(pool_whole);
  const Index lanes = lanes_of(isa);
  Strided<4> in(input.data, {lanes, columns, rows, blocks},
                {1, input.column, input.row, input.block});
  Strided<2> out(output, {lanes, blocks}, {1, lanes});
  float counted = static_cast<float>(rows * columns);
  call_compiled(of(whole, isa), {in.argument(), &counted, out.argument()});
}

}  // namespace touchstone::optimized
