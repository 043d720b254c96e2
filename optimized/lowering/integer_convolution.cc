// Convolutions of 8-bit integers: ConvInteger and QLinearConv. The filters are the rows of A. Each
// column of B holds the numbers that the filters see from one position; a panel of columns is
// gathered from the padded image right before its product.
#include <algorithm>
#include <cstring>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/integer_windows.h"
#include "reference/calls.h"

namespace touchstone {
namespace {

// Positions in a row of the image that a panel reads, `step` apart.
struct Segment {
  Index from, length;
};

class IntegerConvolution : public TensorStep {
 public:
  IntegerConvolution(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), at_(places_of(this->node())) {
    kernel = "integer convolution " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::convolution;
    const Tensor* const w = graph.value(fact().inputs[at_.w]).constant;
    packed_ = w != nullptr && w->shape().size() >= 2 && w->size() > 0;
    if (packed_) pack_filters(*w);
  }

  void run(RunState& state) override {
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      inputs.push_back(has_input(k) ? Value(input(state, k)) : Value());
    const Call call = call_of(node(), std::move(inputs));
    const bool quantised = at_.y_zero != absent_input;
    windows_ = windows_of(facts_of(call), quantised);
    const Tensor &x = input(state, at_.x), &w = input(state, at_.w);
    depth_ = multiply(windows_.channels, count(windows_.kernel));
    if ((quantised && depth_ > most_rounded_depth) || w.size() == 0 || !lay_out())
      return run_on_reference(state);
    const Type type = quantised ? input(state, at_.y_zero).type() : Type::int32;
    Tensor& y = output(state, 0, type, windows_.made);
    if (y.size() == 0) return;
    charge_work(multiply(y.size(), add(depth_, 1)));

    if (!packed_) pack_filters(w);
    zeros_of_filters(state, w);
    x_zero_ = has_input(at_.x_zero) ? byte_at(input(state, at_.x_zero), 0) : 0;
    is_signed_ = x.type() == Type::int8;
    positions_ = count(windows_.extents);
    panels_ = ceil_div(positions_, integer_tiles().columns);
    prepare_threads(state.pool.size());

    IntegerProduct product{};
    product.a_row = product.depth = filters_.stored_depth();
    product.row = positions_;
    if (quantised) product.to = rounding(state, type);
    const Index channels = x.shape()[1], image = multiply(channels, count(windows_.image));
    const Index made = multiply(windows_.made[1], positions_);
    for (Index n = 0; n < x.shape()[0]; ++n) {
      const std::uint8_t* const from = x.data<std::uint8_t>() + n * image;
      image_ = whole_ ? from : pad(state, from, channels);
      if (quantised) {
        product.to.y = y.data<std::uint8_t>() + n * made;
      } else {
        product.c = y.data<std::int32_t>() + n * made;
      }
      const Index groups = channels / windows_.channels;
      if (depth_ <= most_weighed && windows_.filters <= 2) {
        weigh(state, product, groups, w);
      } else {
        convolve(state, product, groups);
      }
    }
  }

 private:
  void pack_filters(const Tensor& w) {
    const Index filters = w.shape()[0], depth = w.size() / filters;
    filters_.reserve(filters, depth);
    for (Index m = 0; m < filters; ++m)
      filters_.pack(m, w.data<std::uint8_t>() + m * depth, w.type() == Type::int8);
  }

  void zeros_of_filters(RunState& state, const Tensor& w) {
    const Tensor* const zero = has_input(at_.w_zero) ? &input(state, at_.w_zero) : nullptr;
    for (Index m = 0; m < w.shape()[0]; ++m) {
      const std::int32_t given = zero == nullptr ? 0 : byte_at(*zero, zero->size() == 1 ? 0 : m);
      filters_.zeros()[m] = stored_zero(given, false, w.type() == Type::uint8);
    }
  }

  Requantise rounding(RunState& state, Type type) {
    Requantise to{};
    const Tensor& scale = input(state, at_.w_scale);
    to.row_scale = scale.data<float>();
    to.row_step = scale.size() == 1 ? 0 : 1;
    to.column_scale = input(state, at_.x_scale).data<float>();
    to.y_scale = input(state, at_.y_scale).data<float>()[0];
    to.y_zero = static_cast<float>(byte_at(input(state, at_.y_zero), 0));
    to.is_signed = type == Type::int8;
    if (has_input(at_.bias)) to.bias = input(state, at_.bias).data<std::int32_t>();
    return to;
  }

  // Sizes of the padded image: the numbers that windows reach. False if there are many more of them
  // than the windows read.
  bool lay_out() {
    const Windows& w = windows_;
    const Index r = w.image.size();
    padded_ = (w.extents - Index{1}) * w.step + (w.kernel - Index{1}) * w.spread + Index{1};
    if (std::any_of(w.extents.begin(), w.extents.end(), [](Index e) { return e == 0; }) ||
        std::any_of(w.kernel.begin(), w.kernel.end(), [](Index e) { return e == 0; }))
      return false;
    const double read = static_cast<double>(count(w.extents)) * static_cast<double>(depth_);
    double size = static_cast<double>(w.channels);
    for (const Index extent : padded_) size *= static_cast<double>(extent);
    if (size >
        4 * (read + static_cast<double>(count(w.image)) * static_cast<double>(w.channels)) + 65536)
      return false;
    whole_ = padded_ == w.image && w.before == IndexVector(r, 0);
    plane_ = count(padded_);
    strides_ = dense_strides(padded_);
    // Positions that follow each other in a channel are one segment.
    joined_ = w.step == IndexVector(r, 1) && tail(padded_, 1) == tail(w.extents, 1);
    taps_ = taps_memory_.at<Index>(depth_);
    const Index points = count(w.kernel);
    IndexVector at(r, 0);
    for (Index t = 0; t < points; ++t) {
      const Index from = total(at * w.spread * strides_);
      for (Index c = 0; c < w.channels; ++c) taps_[c * points + t] = c * plane_ + from;
      for (Index d = r - 1; d >= 0 && ++at[d] == w.kernel[d]; --d) at[d] = 0;
    }
    return true;
  }

  const std::uint8_t* pad(RunState& state, const std::uint8_t* image, Index channels) {
    const Windows& w = windows_;
    std::uint8_t* const made =
        padded_memory_.at<std::uint8_t>(add(multiply(channels, plane_), multiply(16, last_step())));
    const Index r = w.image.size(), length = padded_[r - 1], extent = w.image[r - 1];
    const Index rows = plane_ / length, before = w.before[r - 1];
    const IndexVector of_image = dense_strides(w.image);
    const Index first = clamp(before, 0, length);
    const Index end = clamp(add(before, extent), first, length);
    state.each(channels, static_cast<double>(channels * plane_) * 0.1, [&](Index c, Index) {
      IndexVector at(r - 1, 0);
      std::uint8_t* to = made + c * plane_;
      for (Index row = 0; row < rows; ++row, to += length) {
        Index from = c * of_image[0] * w.image[0];
        bool inside = true;
        for (Index d = 0; d < r - 1; ++d) {
          const Index i = subtract(at[d], w.before[d]);
          inside = inside && i >= 0 && i < w.image[d];
          if (inside) from += i * of_image[d];
        }
        const auto fill = static_cast<unsigned char>(x_zero_);
        if (inside && end > first) {
          std::memset(to, fill, static_cast<std::size_t>(first));
          std::memcpy(to + first, image + from + (first - before),
                      static_cast<std::size_t>(end - first));
          std::memset(to + end, fill, static_cast<std::size_t>(length - end));
        } else {
          std::memset(to, fill, static_cast<std::size_t>(length));
        }
        for (Index d = r - 2; d >= 0 && ++at[d] == padded_[d]; --d) at[d] = 0;
      }
    });
    return made;
  }

  // Convolves groups of few filters without a panel: a row of results at a time, tap by tap.
  void weigh(RunState& state, const IntegerProduct& given, Index groups, const Tensor& w) const {
    const IntegerTiles& tiles = integer_tiles();
    const Windows& windows = windows_;
    const Index r = windows.extents.size(), width = windows.extents[r - 1];
    const Index step = windows.step[r - 1], rows = positions_ / width;
    const Index filters = groups * windows.filters;
    const double work = static_cast<double>(filters) * static_cast<double>(positions_) *
                        static_cast<double>(depth_) * 0.1;
    state.each(filters, work, [&](Index m, Index) {
      const std::uint8_t* const image = image_ + m / windows.filters * windows.channels * plane_;
      const std::int32_t w_zero = filters_.zeros()[m] + (w.type() == Type::uint8 ? 128 : 0);
      std::int32_t weights[most_weighed], total = 0;
      for (Index k = 0; k < depth_; ++k) total += weights[k] = byte_at(w, m * depth_ + k) - w_zero;
      for (Index row = 0; row < rows; ++row) {
        Index start = 0, rest = row;
        for (Index d = r - 2; d >= 0; --d) {
          start += rest % windows.extents[d] * windows.step[d] * strides_[d];
          rest /= windows.extents[d];
        }
        for (Index n = 0; n < width; n += most_columns) {
          const Index count = std::min(most_columns, width - n);
          // Whole vectors, where memory allows it.
          const Index wide = whole_ ? count : (count + 15) / 16 * 16;
          std::int32_t sums[most_columns];
          std::fill_n(sums, wide, -x_zero_ * total);
          for (Index k = 0; k < depth_; ++k)
            tiles.weigh(image + taps_[k] + start + n * step, step, wide, is_signed_, weights[k],
                        sums);
          const Index to = row * width + n;
          if (given.c == nullptr) {
            tiles.round(given.to, m, positions_, to, count, sums);
          } else {
            std::copy_n(sums, count, given.c + m * positions_ + to);
          }
        }
      }
    });
  }

  // Memory of a thread: a panel, four rows of it, and three numbers for each of its columns.
  struct OfThread {
    std::uint8_t *panel, *rows;
    std::int32_t *sums, *zeros, *rests;
  };
  void prepare_threads(Index threads) {
    panel_bytes_ = multiply(filters_.stored_depth(), most_columns);
    thread_bytes_ = add(panel_bytes_, 4 * row_bytes + 3 * 4 * most_columns);
    threads_ = threads_memory_.at<std::uint8_t>(multiply(threads, thread_bytes_));
  }
  OfThread of_thread(Index thread) const {
    std::uint8_t* const from = threads_ + thread * thread_bytes_;
    auto* const numbers = reinterpret_cast<std::int32_t*>(from + panel_bytes_ + 4 * row_bytes);
    return {from, from + panel_bytes_, numbers, numbers + most_columns, numbers + 2 * most_columns};
  }

  void convolve(RunState& state, const IntegerProduct& given, Index groups) {
    const IntegerTiles& tiles = integer_tiles();
    const Index wanted = parts_for(state.pool.size()), filters = windows_.filters;
    const Index items = multiply(groups, panels_);
    const Index row_parts =
        std::max<Index>(std::min(ceil_div(filters, 64), ceil_div(wanted, items)), 1);
    const double work = static_cast<double>(positions_) * static_cast<double>(groups) *
                        static_cast<double>(filters + 16) * static_cast<double>(depth_) * 0.01;
    const Index all = items * row_parts, parts = std::min(all, wanted);
    state.each(parts, work, [&](Index part, Index thread) {
      const OfThread own = of_thread(thread);
      for (Index k = all * part / parts; k < all * (part + 1) / parts; ++k) {
        const Index item = k / row_parts, row_part = k % row_parts;
        const Index group = item / panels_, from = item % panels_ * tiles.columns;
        const Index columns = std::min(tiles.columns, positions_ - from);
        gather(own, image_ + group * windows_.channels * plane_, from, columns);
        const Index first = group * filters;
        IntegerProduct product = given;
        product.columns = columns;
        product.a = filters_.row(first);
        product.a_zero = filters_.zeros() + first;
        product.a_sum = filters_.sums() + first;
        product.b = own.panel;
        product.b_zero = own.zeros;
        product.b_rest = own.rests;
        const Index to = first * positions_ + from;
        if (product.c != nullptr) {
          product.c += to;
        } else {
          product.to.y += to;
          product.to.row_scale += first * product.to.row_step;
          if (product.to.bias != nullptr) product.to.bias += first;
        }
        const Index low = filters * row_part / row_parts;
        tiles.multiply(product, 0, low, filters * (row_part + 1) / row_parts - low);
      }
    });
  }

  // Packs the columns of positions [from, from + columns).
  void gather(const OfThread& own, const std::uint8_t* image, Index from, Index columns) const {
    const IntegerTiles& tiles = integer_tiles();
    const std::uint8_t flip = is_signed_ ? 128 : 0;
    std::fill_n(own.sums, most_columns, 0);
    std::uint8_t* to = own.panel;
    if (joined_ && windows_.kernel == IndexVector(windows_.kernel.size(), 1)) {
      for (Index k = 0; k < depth_; k += 4, to += 4 * tiles.columns)
        tiles.pack_group(image + k * plane_ + from, plane_, std::min<Index>(4, depth_ - k), columns,
                         flip, to, own.sums);
    } else {
      Segment segments[most_columns];
      const Index count = segments_of(from, columns, segments);
      const Index wide = std::min((columns + 15) / 16 * 16, tiles.columns);
      std::memset(own.rows, flip, 4 * row_bytes);
      for (Index k = 0; k < depth_; k += 4, to += 4 * tiles.columns) {
        for (Index i = 0; i < 4; ++i) {
          std::uint8_t* const row = own.rows + i * row_bytes;
          if (k + i < depth_) {
            copy_row(image + taps_[k + i], segments, count, row);
          } else {
            std::memset(row, flip, row_bytes);
          }
        }
        tiles.pack_group(own.rows, row_bytes, 4, wide, flip, to, own.sums);
      }
    }
    const std::int32_t zero = stored_zero(x_zero_, is_signed_, false);
    for (Index n = 0; n < columns; ++n) {
      own.zeros[n] = zero;
      own.rests[n] = rest_of(own.sums[n], zero, depth_);
    }
  }

  Index segments_of(Index from, Index columns, Segment* segments) const {
    const Windows& w = windows_;
    if (joined_) {
      segments[0] = {from, columns};
      return 1;
    }
    const Index r = w.extents.size(), width = w.extents[r - 1];
    Index made = 0;
    for (Index n = from; n < from + columns;) {
      const Index length = std::min(width - n % width, from + columns - n);
      Index start = n % width * w.step[r - 1], rest = n / width;
      for (Index d = r - 2; d >= 0; --d) {
        start += rest % w.extents[d] * w.step[d] * strides_[d];
        rest /= w.extents[d];
      }
      segments[made++] = {start, length};
      n += length;
    }
    return made;
  }

  // Copies 16 bytes at a time beyond the end of a segment, where memory allows it.
  void copy_row(const std::uint8_t* image, const Segment* segments, Index count,
                std::uint8_t* to) const {
    const Index step = windows_.step[windows_.step.size() - 1];
    for (Index k = 0; k < count; ++k) {
      const std::uint8_t* const from = image + segments[k].from;
      const Index length = segments[k].length;
      if (step != 1) {
        for (Index n = 0; n < length; ++n) to[n] = from[n * step];
      } else if (whole_) {
        std::memcpy(to, from, static_cast<std::size_t>(length));
      } else {
        for (Index n = 0; n < length; n += slack) std::memcpy(to + n, from + n, slack);
      }
      to += length;
    }
  }

  Index last_step() const { return std::max<Index>(windows_.step[windows_.step.size() - 1], 1); }

  static constexpr Index most_weighed = 128;  // numbers of a filter
  static constexpr Index slack = 16, row_bytes = most_columns + slack;

  const Places& at_;
  bool packed_ = false;  // the filters are constant
  PackedRows filters_;
  KeptMemory taps_memory_, padded_memory_, threads_memory_;
  Windows windows_;
  IndexVector padded_, strides_;
  bool whole_ = false, joined_ = false, is_signed_ = false;
  Index depth_ = 0, plane_ = 0, positions_ = 0, panels_ = 0;
  Index panel_bytes_ = 0, thread_bytes_ = 0;
  std::int32_t x_zero_ = 0;
  Index* taps_ = nullptr;  // offset of each number of a column from that of the first
  std::uint8_t* threads_ = nullptr;
  const std::uint8_t* image_ = nullptr;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const std::string_view op = fact.node->signature->op;
  if (!fact.node->signature->domain.empty() || (op != "ConvInteger" && op != "QLinearConv"))
    return false;
  const Places& at = places_of(*fact.node);
  const auto given = [&](std::size_t k) -> const AnalyzedValue* {
    return k < fact.inputs.size() && fact.inputs[k] != no_value ? &graph.value(fact.inputs[k])
                                                                : nullptr;
  };
  for (const std::size_t k : {at.x, at.w, at.x_zero, at.w_zero, at.y_zero}) {
    if (given(k) && !given(k)->is(Type::uint8) && !given(k)->is(Type::int8)) return false;
  }
  for (const std::size_t k : {at.x_scale, at.w_scale, at.y_scale}) {
    if (given(k) && !given(k)->is(Type::float32)) return false;
  }
  return !given(at.bias) || given(at.bias)->is(Type::int32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<IntegerConvolution>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily integer_convolution_family{"integer convolution", KernelClass::convolution,
                                              takes, step};

}  // namespace touchstone
