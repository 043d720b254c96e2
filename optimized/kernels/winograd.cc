// Winograd convolution over as many rows of tiles as fit into cache: transforms the input,
// multiplies, transforms the output.
#include "optimized/kernels/winograd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "optimized/kernels/compiled.h"
#include "optimized/kernels/convolution.h"
#include "optimized/kernels/strided_copy.h"
#include "optimized/kernels/vector_copies.h"
#include "reference/lists.h"

namespace touchstone::optimized {

// SSE4.1 has too few registers for them.
#define TOUCHSTONE_WINOGRAD(name)                              \
  extern "C" int TOUCHSTONE_OF_ISA(name, avx2, _argv)(void**); \
  extern "C" int TOUCHSTONE_OF_ISA(name, avx512, _argv)(void**)
TOUCHSTONE_WINOGRAD(winograd_input_2);
TOUCHSTONE_WINOGRAD(winograd_input_4);
TOUCHSTONE_WINOGRAD(winograd_output_2);
TOUCHSTONE_WINOGRAD(winograd_output_4);
#undef TOUCHSTONE_WINOGRAD

namespace {

backends::CompiledKernel input_kernel(Isa isa, Index points) {
  if (isa == Isa::avx2)
    return points == 2 ? TOUCHSTONE_OF_ISA(winograd_input_2, avx2, _argv)
                       : TOUCHSTONE_OF_ISA(winograd_input_4, avx2, _argv);
  return points == 2 ? TOUCHSTONE_OF_ISA(winograd_input_2, avx512, _argv)
                     : TOUCHSTONE_OF_ISA(winograd_input_4, avx512, _argv);
}
backends::CompiledKernel output_kernel(Isa isa, Index points) {
  if (isa == Isa::avx2)
    return points == 2 ? TOUCHSTONE_OF_ISA(winograd_output_2, avx2, _argv)
                       : TOUCHSTONE_OF_ISA(winograd_output_4, avx2, _argv);
  return points == 2 ? TOUCHSTONE_OF_ISA(winograd_output_2, avx512, _argv)
                     : TOUCHSTONE_OF_ISA(winograd_output_4, avx512, _argv);
}

}  // namespace

namespace {

constexpr double cached = 1e6;  // bytes of weights that stay in L2

// Best split of the rows of tiles into sets, and the bytes then read from beyond L2. These are the
// weights once per set, and the maps of both sides, written and read, unless a set's maps stay in
// L2.
struct Sets {
  Index rows_of_tiles = 1;
  double bytes = std::numeric_limits<double>::infinity();
};
Sets sets_of(const ConvolutionShape& s, Index points) {
  const Index height = ceil_div(s.rows_out, points), width = ceil_div(s.columns_out, points);
  const double products = 4 * static_cast<double>((points + 2) * (points + 2));
  const double weights = products * static_cast<double>(s.channels_in * s.channels_out);
  const double row = products * static_cast<double>((s.channels_in + s.channels_out) * width);
  Sets best;
  for (Index rows = 1; rows <= height; ++rows) {
    const double sets = static_cast<double>(ceil_div(height, rows));
    const bool stays = row * static_cast<double>(rows) <= 1.25e6;
    const double bytes = weights * (weights <= cached ? 1 : sets) +
                         (stays ? 0 : 2 * row * static_cast<double>(height));
    if (bytes < best.bytes || (stays && bytes == best.bytes)) best = {rows, bytes};
  }
  return best;
}

}  // namespace

// Cost model in cycles: two multiply-adds per cycle, the transforms, and a few bytes per cycle from
// beyond L2. The constants are those of a Xeon of 2023 and are not critical.
Index Winograd::choose(Isa isa, const ConvolutionShape& s, ConvolutionAlgorithm algorithm) {
  const bool fits = isa != Isa::sse41 && s.kernel_rows == 3 && s.kernel_columns == 3 &&
                    s.row_stride == 1 && s.column_stride == 1 && s.row_dilation == 1 &&
                    s.column_dilation == 1 && !s.plain_input && !s.depthwise;
  if (!fits || algorithm == ConvolutionAlgorithm::direct) return 0;
  if (algorithm == ConvolutionAlgorithm::winograd2) return 2;
  if (algorithm == ConvolutionAlgorithm::winograd4) return 4;
  const double lanes = static_cast<double>(lanes_of(isa));
  const double pairs = static_cast<double>(s.channels_in * s.channels_out);
  const double blocks = static_cast<double>(ceil_div(s.channels_in, lanes_of(isa)) +
                                            ceil_div(s.channels_out, lanes_of(isa)));
  const auto cycles = [&](double sums, double bytes) {
    return 1.05 * sums * pairs / lanes / 2 + bytes / (bytes < 2.4e7 ? 6 : 3.5);
  };
  const double weights = 36 * pairs;
  double min =
      cycles(9 * static_cast<double>(s.rows_out * s.columns_out), weights <= cached ? 0 : weights);
  Index best = 0;
  for (Index points : {2, 4}) {
    const double sums =
        static_cast<double>((points + 2) * (points + 2) * ceil_div(s.rows_out, points) *
                            ceil_div(s.columns_out, points));
    const double cost = cycles(sums, sets_of(s, points).bytes) + 8 * sums * blocks;
    if (cost < min) {
      min = cost;
      best = points;
    }
  }
  return best;
}

Winograd::Winograd(Isa isa, const ConvolutionShape& shape, Index points, Index threads)
    : isa_(isa),
      points_(points),
      lanes_(lanes_of(isa)),
      channels_in_(shape.channels_in),
      channels_out_(shape.channels_out),
      rows_out_(shape.rows_out),
      columns_out_(shape.columns_out),
      in_order_(isa, shape) {
  // Makes the sets as equal in height as possible.
  const Index height = ceil_div(rows_out_, points);
  Index sets = ceil_div(height, sets_of(shape, points).rows_of_tiles);
  const Index weights = 4 * (points + 2) * (points + 2) * channels_in_ * channels_out_;
  const bool by_rows = static_cast<double>(weights) <= cached || sets >= 2 * threads;
  if (threads > 1 && by_rows) sets = std::min(ceil_div(sets, threads) * threads, height);
  rows_at_once_ = ceil_div(height, sets) * points;
  ConvolutionShape one;
  one.channels_in = channels_in_;
  one.channels_out = channels_out_;
  one.rows_out = tiles(rows_at_once_);  // one column: all its points are one run
  product_ = std::make_unique<Convolution>(isa, one);
  if (!by_rows) parts_ = std::min(threads, product_->parts());
  no_bias_.assign(static_cast<std::size_t>(ceil_div(channels_out_, lanes_) * lanes_), 0.0F);
}

std::pair<Index, Index> Winograd::products_of(Index part) const {
  return {product_->parts() * part / parts_, product_->parts() * (part + 1) / parts_};
}

std::pair<Index, Index> Winograd::blocks_of(Index part) const {
  const auto [from, to] = products_of(part);
  const Index first = product_->blocks_of(from).first;
  const auto [last, count] = product_->blocks_of(to - 1);
  return {first, last + count - first};
}

Index Winograd::tiles(Index rows) const {
  return ceil_div(rows, points_) * ceil_div(columns_out_, points_);
}

// An odd number of vectors, so that the maps over which a tile is spread do not all map to one set
// of the cache.
Index Winograd::plane(Index channels, Index rows) const {
  return (ceil_div(channels, lanes_) * tiles(rows) | 1) * lanes_;
}

Index Winograd::scratch_size() const {
  const Index size = points_ + 2;
  return std::max(
      size * size * (plane(channels_in_, rows_at_once_) + plane(channels_out_, rows_at_once_)),
      in_order_.scratch_size());
}

// One more vector after the weights holds the bits of the input's magnitude limit.
Index Winograd::packed_size() const {
  return (points_ + 2) * (points_ + 2) * product_->packed_size() + lanes_;
}

namespace {

// Upper bounds on the growth of magnitudes, from the absolute values of G, B' and A' (listed in
// winograd_test.cc): the largest sum of a row, once for rows and once for columns.
constexpr double growth_of_weights = 1.5 * 1.5, growth_of_input = 10 * 10, growth_of_sums = 19 * 19;

// Returns the bits of the largest input magnitude for which no intermediate value overflows. Half
// of the float range is reserved for rounding. Returns -1 if the weights alone may overflow.
std::int32_t largest_input(const float* weights, Index channels_in, Index channels_out) {
  std::int32_t max = 0;
  for (Index k = 0; k < channels_in * channels_out * 9; ++k)
    max = std::max(max, std::bit_cast<std::int32_t>(weights[k]) & 0x7fffffff);
  constexpr double greatest = std::numeric_limits<float>::max() / 2.0;
  const double weight = growth_of_weights * std::bit_cast<float>(max);
  if (!(weight <= greatest)) return -1;
  const double sums = growth_of_sums * weight * static_cast<double>(channels_in);
  const double input = greatest / (growth_of_input * std::max(sums, 1.0));
  return std::bit_cast<std::int32_t>(static_cast<float>(input));
}

}  // namespace

// Processes a few input channels at a time, so that the transposed weights stay in L1.
void Winograd::pack(const float* weights, float* packed) const {
  constexpr Index taps = 9, some = 8;
  const VectorCopies& moves = vector_copies(isa_);
  packed[packed_size() - lanes_] =
      std::bit_cast<float>(largest_input(weights, channels_in_, channels_out_));
  const auto transform = points_ == 2 ? moves.winograd_weights_2 : moves.winograd_weights_4;
  for (Index part = 0; part < product_->parts(); ++part) {
    const auto [offset, first, width] = product_->rows_of(part);
    std::vector<float> turned(
        static_cast<std::size_t>(some * taps * width));  // [channel][tap][width]
    for (Index channel = 0; channel < channels_in_; channel += some) {
      const Index count = std::min(some, channels_in_ - channel);
      const StridedCopy turn{{std::min(width, channels_out_ - first), count * taps, 1, 1, 1},
                             {channels_in_ * taps, 1, 0, 0, 0},
                             {1, width, 0, 0, 0}};
      run_strided_copy(isa_, turn, sizeof(float), weights + (first * channels_in_ + channel) * taps,
                       turned.data());
      for (Index k = 0; k < count; ++k)
        transform(turned.data() + k * taps * width, packed + offset + (channel + k) * width,
                  product_->packed_size(), width);
    }
  }
}

// True if no intermediate value can overflow for rows [first, first + count).
bool Winograd::stays_finite(const ConvolutionRows& rows, Index first, Index count) const {
  const auto limit = std::bit_cast<std::int32_t>(rows.weights.packed[packed_size() - lanes_]);
  const BlockedImage& input = rows.input;
  const float* from = input.data + first * input.row;
  std::array<std::int32_t, 16> lanes;
  lanes.fill(-1);
  for (Index channel = 0; channel < channels_in_; channel += lanes_, from += input.block) {
    if (channels_in_ - channel < lanes_)
      std::fill(lanes.begin() + channels_in_ - channel, lanes.end(), 0);
    if (ordered_kernels(isa_).greatest(from, input.row, count + 2, columns_out_ + 2, lanes.data()) >
        limit)
      return false;
  }
  return true;
}

// Only the values that a row of tiles reads itself decide whether it is recomputed in order. So no
// result depends on how rows are distributed.
void Winograd::run(const ConvolutionRows& rows) const {
  if (stays_finite(rows, rows.first, rows.count)) return run_in_tiles(rows);
  const Index end = rows.first + rows.count;
  const auto in_tiles = [&](Index first) {
    return stays_finite(rows, first, std::min(points_, end - first));
  };
  const auto [first_block, blocks] = blocks_of(rows.part);
  for (Index first = rows.first; first < end;) {
    const bool tiles = in_tiles(first);
    Index next = first + points_;
    while (next < end && in_tiles(next) == tiles) next += points_;
    ConvolutionRows some = rows;
    some.first = first;
    some.count = std::min(next, end) - first;
    tiles ? run_in_tiles(some) : in_order_.run(some, first_block, blocks);
    first = next;
  }
}

void Winograd::run_in_tiles(const ConvolutionRows& given) const {
  const auto& [input, weights, bias, residual, output, min, max, part, first_row, rows, scratch,
               prefetch] = given;
  const float* const packed = weights.packed;
  const Index size = points_ + 2, width = ceil_div(columns_out_, points_);
  const Index height = ceil_div(rows, points_), count = tiles(rows);
  const Index in_blocks = ceil_div(channels_in_, lanes_);
  const auto [first_block, out_blocks] = blocks_of(part);
  const auto [first_product, last_product] = products_of(part);
  const Index in_plane = plane(channels_in_, rows), out_plane = plane(channels_out_, rows);
  float* const products = scratch + size * size * in_plane;
  const Index block = count * lanes_;
  {
    Strided<4> from(input.data + first_row * input.row, {Axis{lanes_, 1},
                                                         {columns_out_ + 2, input.column},
                                                         {rows + 2, input.row},
                                                         {in_blocks, input.block}});
    Strided<6> to(scratch, {Axis{lanes_, 1},
                            {size, in_plane},
                            {size, in_plane * size},
                            {width, lanes_},
                            {height, lanes_ * width},
                            {in_blocks, block}});
    void* arguments[] = {from.argument(), to.argument()};
    input_kernel(isa_, points_)(arguments);
  }
  constexpr float all = std::numeric_limits<float>::infinity();
  for (Index k = 0; k < size * size; ++k) {
    const BlockedImage in{scratch + k * in_plane, lanes_, lanes_, block};
    const BlockedImage out{products + k * out_plane, lanes_, lanes_, block};
    const Index step = product_->packed_size();
    const PrefetchHint next =
        k + 1 < size * size ? PrefetchHint{packed + (k + 1) * step, step} : prefetch;
    for (Index p = first_product; p < last_product; ++p) {
      product_->run(in, {packed + k * step}, no_bias_.data(), nullptr, out, -all, all, p, 0, count,
                    nullptr, next);
    }
  }
  {
    const BlockedImage more = residual ? *residual : nothing_to_add();
    const Index shift = first_block * output.block + first_row * output.row;
    Strided<6> from(products + first_block * block, {Axis{lanes_, 1},
                                                     {size, out_plane},
                                                     {size, out_plane * size},
                                                     {width, lanes_},
                                                     {height, lanes_ * width},
                                                     {out_blocks, block}});
    Strided<2> biases(bias + first_block * lanes_, {Axis{lanes_, 1}, {out_blocks, lanes_}});
    Strided<4> add(
        more.data + first_block * more.block + first_row * more.row,
        {Axis{lanes_, 1}, {columns_out_, more.column}, {rows, more.row}, {out_blocks, more.block}});
    Strided<4> to(output.data + shift, {Axis{lanes_, 1},
                                        {columns_out_, output.column},
                                        {rows, output.row},
                                        {out_blocks, output.block}});
    float lowest = min, highest = max;
    void* arguments[] = {&lowest,           &highest,       from.argument(),
                         biases.argument(), add.argument(), to.argument()};
    output_kernel(isa_, points_)(arguments);
  }
}

}  // namespace touchstone::optimized
