// Splits a convolution into calls of compiled kernels. The width is cut into strips of whole tiles.
// So no point is computed twice (the residual may alias the output) and nothing next to the image
// is read.
#include "optimized/kernels/convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/error.h"
#include "optimized/kernels/compiled.h"
#include "optimized/kernels/convolution_table.h"
#include "optimized/kernels/grouped.h"
#include "optimized/kernels/narrow.h"
#include "optimized/kernels/winograd.h"
#include "optimized/registry/components.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

using Kind = ConvolutionKernel::Kind;

Kind kind_of(const ConvolutionShape& shape) {
  return shape.depthwise ? Kind::depthwise : shape.plain_input ? Kind::plain : Kind::blocked;
}

// Estimates the cycles of a tile per reduction step, from two multiply-adds and two loads per cycle
// and a latency of four cycles. Only has to rank cuts of the width.
double cycles(const ConvolutionKernel& kernel) {
  const double points = static_cast<double>(kernel.columns * kernel.rows);
  const double blocks = static_cast<double>(kernel.blocks);
  return std::max({points * blocks / 2, (points + blocks) / 2, 4.0}) + 0.5;
}

}  // namespace

// Arguments common to all kernel calls of a run; the pointers are at the first point.
struct Convolution::Call {
  BlockedImage input;
  const float* weights;
  const float* bias;
  BlockedImage residual;
  BlockedImage output;
  Index blocks;
  float min, max;
  Band down, along;  // taps
  // Weights to prefetch meanwhile, and how many per output point.
  const float* prefetch;
  double a_point;
};

// Names no algorithm that is not built, so that the linker drops it.
void Convolution::choose_variant(ConvolutionAlgorithm algorithm) {
  if (shape_.groups > 1) {
    if constexpr (!is_built(Component::grouped)) refuse(Component::grouped);
    variant_ = std::make_shared<Grouped>(isa_, shape_);
    algorithm_ = ConvolutionAlgorithm::grouped;
    return;
  }
  if constexpr (is_built(Component::winograd)) {
    if (const Index points = Winograd::choose(isa_, shape_, algorithm); points > 0) {
      variant_ = std::make_shared<Winograd>(isa_, shape_, points, threads_);
      algorithm_ = points == 2 ? ConvolutionAlgorithm::winograd2 : ConvolutionAlgorithm::winograd4;
      return;
    }
  }
  if constexpr (is_built(Component::narrow)) {
    if (Narrow::fits(isa_, shape_, algorithm)) {
      variant_ = std::make_shared<Narrow>(isa_, shape_);
      algorithm_ = ConvolutionAlgorithm::narrow;
    }
  }
}

Convolution::Convolution(Isa isa, const ConvolutionShape& shape, ConvolutionAlgorithm algorithm,
                         Index threads)
    : isa_(isa), shape_(shape), lanes_(lanes_of(isa)), threads_(threads) {
  choose_variant(algorithm);
  if (variant_) {
    packed_size_ = variant_->packed_size();
    rows_at_once_ = variant_->rows_at_once();
    return;
  }
  const bool blocked = kind_of(shape) == Kind::blocked;
  full_blocks_ = blocked ? shape.channels_in / lanes_ : 0;
  rest_ = shape.depthwise ? 1 : blocked ? shape.channels_in % lanes_ : shape.channels_in;
  // Blocks of one tile reuse the same input. Depthwise blocks have no input in common; grouping
  // them only saves calls.
  const Index blocks = ceil_div(shape.channels_out, lanes_), tile = isa == Isa::sse41 ? 1 : 2;
  const Index max = shape.depthwise ? std::clamp<Index>(blocks / 8, 1, 8) : tile;
  const Index taps = shape.kernel_rows * shape.kernel_columns;
  const Index sums = taps * (shape.depthwise ? 1 : shape.channels_in);
  for (Index first = 0; first < blocks; first += max) {
    const Index count = std::min(max, blocks - first);
    groups_.push_back({first, count, packed_size_, count * lanes_ * sums});
    packed_size_ += groups_.back().size;
  }
  for (Index count = 1; count <= (shape.depthwise ? 1 : tile); ++count) {
    by_rows_.push_back(cuts(count, shape.rows_out));
    one_run_.push_back(cuts(count, 1));
  }
  // Half of L2 should hold the input rows that all groups read.
  const Index cache = Index{1} << 18;
  const Index in_row = shape.row_stride * shape.columns_out * shape.column_stride *
                       (shape.depthwise ? lanes_ : shape.channels_in);
  const Index input = in_row * shape.rows_out;
  const Index chunk = std::clamp<Index>(cache / std::max<Index>(in_row, 1), 1, shape.rows_out);
  const Index again = ceil_div(shape.rows_out, chunk);
  const bool weights_stay = packed_size_ <= cache;
  const Index groups_outside = packed_size_ + (input <= cache ? 1 : parts()) * input;
  const Index rows_outside = input + (weights_stay ? 1 : again) * packed_size_;
  rows_at_once_ = shape.depthwise || groups_outside <= rows_outside ? shape.rows_out : chunk;
}

Convolution::Cuts Convolution::cuts(Index blocks, Index rows) const {
  rows = std::max<Index>(rows, 1);
  // Collects the most specialized kernels that exist.
  std::vector<Strip> choices;
  const auto take = [&](Kind kind, Index step) {
    for (const ConvolutionKernel& kernel : convolution_kernels()) {
      if (kernel.isa != isa_ || kernel.kind != kind || kernel.blocks != blocks ||
          kernel.step != step || kernel.rows > rows) {
        continue;
      }
      auto same = std::find_if(choices.begin(), choices.end(),
                               [&](const Strip& strip) { return strip.columns == kernel.columns; });
      if (same == choices.end()) same = choices.insert(same, {kernel.columns});
      (kernel.rows > 1 ? same->several : same->single) = &kernel;
    }
    return !choices.empty();
  };
  const Kind kind = kind_of(shape_);
  const bool three = shape_.kernel_rows == 3 && shape_.kernel_columns == 3;
  const bool special =
      kind == Kind::depthwise && three && take(Kind::depthwise3, shape_.column_stride);
  if (!special && !take(kind, shape_.column_stride)) take(kind, 0);
  Cuts out{};
  std::array<double, planned + 1> best{};
  for (Index width = 1; width <= planned; ++width) {
    best[static_cast<std::size_t>(width)] = std::numeric_limits<double>::infinity();
    for (const Strip& strip : choices) {
      if (strip.columns > width || strip.single == nullptr) continue;
      const Index step = strip.several ? strip.several->rows : 1, fit = rows / step;
      const double all = (step > 1 ? static_cast<double>(fit) * cycles(*strip.several) : 0) +
                         static_cast<double>(step > 1 ? rows % step : rows) * cycles(*strip.single);
      const double row = all / static_cast<double>(rows);
      const double cost = row + best[static_cast<std::size_t>(width - strip.columns)];
      if (cost < best[static_cast<std::size_t>(width)]) {
        best[static_cast<std::size_t>(width)] = cost;
        out[static_cast<std::size_t>(width)] = strip;
      }
    }
    if (out[static_cast<std::size_t>(width)].single == nullptr) BUG("no kernel for a width");
  }
  return out;
}

// Merges the leading tiles of one width into one strip.
Convolution::Strip Convolution::next_strip(const Cuts& cuts, Index columns) const {
  const auto cut = [&](Index left) {
    return cuts[static_cast<std::size_t>(std::min(left, planned))];
  };
  Strip strip = cut(columns);
  const Index tile = strip.single->columns;
  while (strip.columns < columns && cut(columns - strip.columns).single == strip.single) {
    strip.columns += tile;
  }
  return strip;
}

std::pair<Index, Index> Convolution::blocks_of(Index part) const {
  if (variant_) return variant_->blocks_of(part);
  const Group& group = groups_[static_cast<std::size_t>(part)];
  return {group.first_block, group.blocks};
}
Index Convolution::rows_of_a_tile() const { return variant_ ? variant_->rows_of_a_tile() : 1; }
Index Convolution::scratch_size() const { return variant_ ? variant_->scratch_size() : 0; }

void Convolution::run_rows(const ConvolutionKernel& kernel, Index columns, Index rows,
                           const Call& call) const {
  const ConvolutionShape& s = shape_;
  BlockedImage in = call.input;
  const Index width = kernel.blocks * lanes_;
  const Axis kernel_column{call.along.taps, in.column * s.column_dilation};
  const Axis kernel_row{call.down.taps, in.row * s.row_dilation};
  in.data += call.down.first_tap * kernel_row.stride + call.along.first_tap * kernel_column.stride;
  const Axis column{columns, in.column * s.column_stride}, row{rows, in.row * s.row_stride};
  Strided<4> residual(call.residual.data, {Axis{lanes_, 1},
                                           {columns, call.residual.column},
                                           {rows, call.residual.row},
                                           {call.blocks, call.residual.block}});
  Strided<4> output(call.output.data, {Axis{lanes_, 1},
                                       {columns, lanes_},
                                       {rows, call.output.row},
                                       {call.blocks, call.output.block}});
  float min = call.min, max = call.max;
  if (s.depthwise) {
    const Index taps = s.kernel_rows * s.kernel_columns;
    Strided<6> input(
        in.data,
        {Axis{lanes_, 1}, kernel_column, kernel_row, column, row, {call.blocks, in.block}});
    Strided<4> weights(call.weights, {Axis{lanes_, 1},
                                      {s.kernel_columns, lanes_},
                                      {s.kernel_rows, lanes_ * s.kernel_columns},
                                      {call.blocks, lanes_ * taps}});
    Strided<2> bias(call.bias, {Axis{lanes_, 1}, {call.blocks, lanes_}});
    bool adds = call.residual.column != 0;
    void* arguments[] = {&min,
                         &max,
                         &adds,
                         input.argument(),
                         weights.argument(),
                         bias.argument(),
                         residual.argument(),
                         output.argument()};
    kernel.run(arguments);
    return;
  }
  const Index tap = lanes_ * width, taps = s.kernel_rows * s.kernel_columns;
  const Index skipped = call.down.first_tap * s.kernel_columns + call.along.first_tap;
  Strided<6> input(
      in.data, {Axis{lanes_, 1}, kernel_column, kernel_row, {full_blocks_, in.block}, column, row});
  Strided<1> bias(call.bias, {Axis{width, 1}});
  Strided<5> weights(call.weights + skipped * tap, {Axis{width, 1},
                                                    {lanes_, width},
                                                    {call.along.taps, tap},
                                                    {call.down.taps, tap * s.kernel_columns},
                                                    {full_blocks_, tap * taps}});
  const float* more = call.weights + full_blocks_ * tap * taps + skipped * rest_ * width;
  const Axis lane{rest_, kernel.kind == Kind::plain ? in.block : 1};
  const bool plain = kernel.kind == Kind::plain;
  const std::array<Axis, 3> order = plain ? std::array<Axis, 3>{kernel_column, kernel_row, lane}
                                          : std::array<Axis, 3>{lane, kernel_column, kernel_row};
  Strided<5> rest_input(in.data + full_blocks_ * in.block,
                        {order[0], order[1], order[2], column, row});
  Strided<4> rest_weights(more,
                          {Axis{width, 1},
                           {order[0].extent, width},
                           {order[1].extent, width * order[0].extent},
                           {order[2].extent, width * (plain ? taps : rest_ * s.kernel_columns)}});
  // Floats to prefetch per tile, and per own weight in units of 1/65536.
  auto prefetch_address = reinterpret_cast<std::uintptr_t>(call.prefetch);
  const double wanted = call.a_point * static_cast<double>(kernel.columns * kernel.rows);
  auto share = static_cast<std::int32_t>(wanted);
  const double own = static_cast<double>(call.down.taps * call.along.taps * s.channels_in * width);
  auto prefetch_rate = static_cast<std::int32_t>(65536 * wanted / own);
  void* arguments[] = {&min,
                       &max,
                       &prefetch_address,
                       &share,
                       &prefetch_rate,
                       input.argument(),
                       weights.argument(),
                       rest_input.argument(),
                       rest_weights.argument(),
                       bias.argument(),
                       residual.argument(),
                       output.argument()};
  kernel.run(arguments);
}

// Returns the weights that a thread reads after this part, at most as many as the part has itself.
PrefetchHint Convolution::after(Index part, const float* packed,
                                const PrefetchHint& prefetch) const {
  const Index next = part + threads_, own = groups_[static_cast<std::size_t>(part)].size;
  if (next < parts()) {
    const Group& group = groups_[static_cast<std::size_t>(next)];
    return {packed + group.offset, group.size};
  }
  const Index first = (next - parts()) * own;
  return first < prefetch.size
             ? PrefetchHint{prefetch.data + first, std::min(own, prefetch.size - first)}
             : PrefetchHint{};
}

void Convolution::run(const BlockedImage& input, const ConvolutionWeights& weights,
                      const float* bias, const BlockedImage* residual, const BlockedImage& output,
                      float min, float max, Index part, Index first_row, Index rows, float* scratch,
                      const PrefetchHint& prefetch) const {
  if (variant_) {
    variant_->run({input, weights, bias, residual, output, min, max, part, first_row, rows, scratch,
                   prefetch});
    return;
  }
  const float* const packed = weights.packed;
  const Group& group = groups_[static_cast<std::size_t>(part)];
  const ConvolutionShape& s = shape_;
  const Index columns = s.columns_out;
  if (rows == 0 || columns == 0) return;
  // Rows without a gap between them are processed as one long row.
  const bool one_run = s.kernel_rows == 1 && s.kernel_columns == 1 &&
                       input.row * s.row_stride == columns * s.column_stride * input.column &&
                       output.row == columns * lanes_ &&
                       (!residual || residual->row == columns * residual->column);
  const Band all_rows{0, s.rows_out, 0, s.kernel_rows},
      all_columns{0, columns, 0, s.kernel_columns};
  Call call{input,
            packed + group.offset,
            bias + group.first_block * lanes_,
            residual ? *residual : nothing_to_add(),
            output,
            group.blocks,
            min,
            max,
            all_rows,
            all_columns,
            packed + group.offset,
            0};
  if (const PrefetchHint next = after(part, packed, prefetch); next.data != nullptr) {
    call.prefetch = next.data;
    call.a_point = static_cast<double>(next.size) / static_cast<double>(rows * columns);
  }
  if (s.depthwise) call.input.data += group.first_block * input.block;
  call.output.data += group.first_block * output.block;
  call.residual.data += group.first_block * call.residual.block;
  const Index together = s.depthwise ? 1 : group.blocks;
  const Cuts& cuts = (one_run ? one_run_ : by_rows_)[static_cast<std::size_t>(together - 1)];
  const auto at = [&](Index row, Index column) {
    Call there = call;
    there.input.data += row * s.row_stride * input.row + column * s.column_stride * input.column;
    there.output.data += row * output.row + column * output.column;
    there.residual.data += row * call.residual.row + column * call.residual.column;
    return there;
  };
  if (s.row_bands.empty() && s.column_bands.empty())
    return run_band(cuts, one_run ? columns * rows : columns, one_run ? 1 : rows, at(first_row, 0));
  const auto bands = [](const std::vector<Band>& some, const Band& all) {
    return some.empty() ? std::span(&all, 1) : std::span(some);
  };
  for (const Band& down : bands(s.row_bands, all_rows)) {
    const Index first = std::max(first_row, down.first);
    const Index count = std::min(first_row + rows, down.first + down.count) - first;
    for (const Band& along : bands(s.column_bands, all_columns)) {
      if (count <= 0) break;
      Call there = at(first, along.first);
      there.down = down;
      there.along = along;
      run_band(cuts, along.count, count, there);
      call.prefetch += static_cast<Index>(call.a_point * static_cast<double>(count * along.count));
    }
  }
}

// Computes rows and columns from the call's first point on, all by the same taps.
void Convolution::run_band(const Cuts& cuts, Index columns, Index rows, Call call) const {
  const ConvolutionShape& s = shape_;
  const auto prefetched = [&](Index points) {
    return static_cast<Index>(call.a_point * static_cast<double>(points));
  };
  while (columns > 0) {
    const Strip strip = next_strip(cuts, columns);
    const Index fit = strip.several ? rows / strip.several->rows * strip.several->rows : 0;
    if (fit > 0) run_rows(*strip.several, strip.columns, fit, call);
    call.prefetch += prefetched(strip.columns * fit);
    if (rows > fit) {
      Call below = call;
      below.input.data += fit * s.row_stride * call.input.row;
      below.output.data += fit * call.output.row;
      below.residual.data += fit * call.residual.row;
      run_rows(*strip.single, strip.columns, rows - fit, below);
      call.prefetch += prefetched(strip.columns * (rows - fit));
    }
    call.input.data += strip.columns * s.column_stride * call.input.column;
    call.output.data += strip.columns * call.output.column;
    call.residual.data += strip.columns * call.residual.column;
    columns -= strip.columns;
  }
}

std::string Convolution::kernels_chosen() const {
  if (variant_) return variant_->name();
  std::string out;
  const Cuts& cuts = by_rows_.back();
  for (Index left = shape_.columns_out; left > 0;) {
    const Strip strip = next_strip(cuts, left);
    const ConvolutionKernel& kernel = strip.several ? *strip.several : *strip.single;
    out += (out.empty() ? "" : ", ") + std::string(kernel.name) + " over " +
           std::to_string(strip.columns);
    left -= strip.columns;
  }
  return out;
}

}  // namespace touchstone::optimized
