// Convolutions of 8-bit integers: ConvInteger and QLinearConv. The filters are the rows of A, and
// the pixels of the image, in groups of four channels, the columns of B. Filters of few numbers are
// multiplied along the rows of a plane instead.
#include <algorithm>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/integer_image.h"
#include "optimized/lowering/integer_planes.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/integer_windows.h"
#include "reference/calls.h"

namespace touchstone::optimized {
namespace {

template <class T>
using Charged = std::vector<T, ChargedAllocator<T>>;

class IntegerConvolution : public TensorStep {
 public:
  IntegerConvolution(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), at_(places_of(this->node())) {
    kernel = "integer convolution " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::convolution;
    const auto constant = [&](std::size_t k) {
      return k >= fact().inputs.size() || fact().inputs[k] == no_value ||
             graph.value(fact().inputs[k]).constant != nullptr;
    };
    constant_ = constant(at_.w) && constant(at_.w_zero);
  }

  void run(RunState& state) override {
    const Tensor &x = input(state, at_.x), &w = input(state, at_.w);
    const bool quantised = at_.y_zero != absent_input;
    if (!is_arranged(state)) arrange(state);
    if (way_ == Way::reference) return run_on_reference(state);
    const Type type = quantised ? input(state, at_.y_zero).type() : Type::int32;
    Tensor& y = output(state, 0, type, windows_.made);
    if (y.size() == 0) return;
    charge_work(multiply(y.size(), add(depth_, 1)));
    if (!packed_) pack_filters(state, w);

    IntegerProduct product{};
    product.row = positions_;
    if (quantised) product.to = rounding(state, type);
    if (way_ == Way::channels && !product.to.narrow) return run_on_reference(state);
    const std::int32_t x_zero = has_input(at_.x_zero) ? byte_at(input(state, at_.x_zero), 0) : 0;
    const bool is_signed = x.type() == Type::int8;
    const Index channels = x.shape()[1], image = multiply(channels, count(windows_.image));
    const Index made = multiply(windows_.made[1], positions_);
    for (Index n = 0; n < x.shape()[0]; ++n) {
      const std::uint8_t* const from = x.data<std::uint8_t>() + n * image;
      if (quantised) {
        product.to.y = y.data<std::uint8_t>() + n * made;
      } else {
        product.c = y.data<std::int32_t>() + n * made;
      }
      if (way_ == Way::channels) {
        image_.fill(state, from, is_signed ? 128 : 0, static_cast<std::uint8_t>(x_zero));
        filter(state, product.to, stored_zero(x_zero, is_signed, false));
      } else if (way_ == Way::planes) {
        planes_.fill(state, from, is_signed, x_zero);
        sum_rows(state, product);
      } else {
        image_.fill(state, from, is_signed ? 128 : 0, static_cast<std::uint8_t>(x_zero));
        convolve(state, product, stored_zero(x_zero, is_signed, false));
      }
    }
  }

 private:
  // channels: one filter for each channel of an image; planes: few products for each result.
  enum class Way { reference, channels, planes, image };

  // True if the inputs have the shapes of the last call: of scales and zero points too.
  bool is_arranged(const RunState& state) const {
    if (shapes_.size() != fact().inputs.size()) return false;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (has_input(k) && input(state, k).shape() != shapes_[k]) return false;
    }
    return true;
  }

  // Reads the windows of a call, and chooses its way.
  void arrange(RunState& state) {
    packed_ = false;
    way_ = Way::reference;
    shapes_.assign(fact().inputs.size(), {});
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k) {
      inputs.push_back(has_input(k) ? Value(input(state, k)) : Value());
      if (has_input(k)) shapes_[k] = input(state, k).shape();
    }
    x_ = shapes_[at_.x];
    w_ = shapes_[at_.w];
    const Call call = call_of(node(), std::move(inputs));
    const bool quantised = at_.y_zero != absent_input;
    windows_ = windows_of(facts_of(call), quantised);
    depth_ = multiply(windows_.channels, count(windows_.kernel));
    if ((quantised && depth_ > most_rounded_depth) || count(w_) == 0) return;
    groups_ = x_[1] / windows_.channels;
    positions_ = count(windows_.extents);
    if (takes_channels(state)) {
      Windows one = windows_;  // of all channels
      one.channels = groups_;
      if (image_.arrange(one, 1)) way_ = Way::channels;
    } else if (windows_.filters <= 2 && depth_ <= IntegerPlanes::most_products) {
      if (planes_.arrange(windows_, x_[1])) way_ = Way::planes;
    } else if (image_.arrange(windows_, groups_)) {
      way_ = Way::image;
    }
  }

  // True if each channel has one constant filter of 8 bits.
  bool takes_channels(RunState& state) {
    if (integer_rows().filter == nullptr || windows_.channels != 1 || windows_.filters != 1 ||
        !constant_ || at_.y_zero == absent_input || depth_ > IntegerPlanes::most_products)
      return false;
    const Tensor& w = input(state, at_.w);
    for (Index k = 0; k < w.size(); ++k) {
      const std::int32_t weight = byte_at(w, k) - zero_of_filter(state, k / depth_);
      if (weight < -128 || weight > 127) return false;
    }
    return true;
  }

  std::int32_t zero_of_filter(const RunState& state, Index m) const {
    if (!has_input(at_.w_zero)) return 0;
    const Tensor& zero = input(state, at_.w_zero);
    return byte_at(zero, zero.size() == 1 ? 0 : m);
  }

  void pack_filters(RunState& state, const Tensor& w) {
    packed_ = constant_;
    const Index filters = w_[0];
    if (way_ != Way::image) {
      Charged<std::int32_t> weights(static_cast<std::size_t>(w.size()));
      for (Index k = 0; k < w.size(); ++k)
        weights[static_cast<std::size_t>(k)] = byte_at(w, k) - zero_of_filter(state, k / depth_);
      if (way_ == Way::planes) return planes_.weigh(weights.data(), filters);
      return pack_channels(weights);
    }
    const bool is_signed = w.type() == Type::int8;
    const Index points = count(windows_.kernel), depth = image_.depth();
    filters_.reserve(filters, depth, 1);
    Charged<std::uint8_t> row(static_cast<std::size_t>(depth));
    const auto arrange_row = [&](auto number) {  // as the image has its channels
      std::fill(row.begin(), row.end(), is_signed ? std::uint8_t{0} : std::uint8_t{128});
      for (Index c = 0; c < windows_.channels; ++c) {
        for (Index t = 0; t < points; ++t)
          row[static_cast<std::size_t>(image_.row(c, t))] = number(c * points + t);
      }
    };
    plain_ = true;
    for (Index m = 0; m < filters; ++m) {
      const std::uint8_t* const from = w.data<std::uint8_t>() + m * depth_;
      arrange_row([&](Index k) { return from[k]; });
      filters_.pack(m, row.data(), is_signed);
      const std::int32_t zero = stored_zero(zero_of_filter(state, m), false, !is_signed);
      filters_.zeros()[m] = zero;
      plain_ = plain_ && zero == 0;
    }
    if (plain_) return;
    ones_.reserve(1, depth, 1);  // its product is the sum of each column
    ones_.zeros()[0] = 0;
    arrange_row([&](Index) { return is_signed ? std::uint8_t{1} : std::uint8_t{129}; });
    ones_.pack(0, row.data(), is_signed);
  }

  // Packs filters as IntegerChannels has them.
  void pack_channels(const Charged<std::int32_t>& weights) {
    const Index filters = w_[0], fours = ceil_div(depth_, 4);
    packed_channels_.assign(static_cast<std::size_t>(ceil_div(filters, 4) * fours * 16), 0);
    totals_.assign(static_cast<std::size_t>(filters), 0);
    for (Index m = 0; m < filters; ++m) {
      for (Index k = 0; k < depth_; ++k) {
        const std::int32_t weight = weights[static_cast<std::size_t>(m * depth_ + k)];
        const Index at = ((m / 4 * fours + k / 4) * 4 + m % 4) * 4 + k % 4;
        packed_channels_[static_cast<std::size_t>(at)] = static_cast<std::int8_t>(weight);
        totals_[static_cast<std::size_t>(m)] += weight;
      }
    }
  }

  void filter(RunState& state, const Requantise& to, std::int32_t zero) const {
    const IntegerRowKernels& kernels = integer_rows();
    const Index fours = image_.fours(), slices = image_.slices(), in_slice = positions_ / slices;
    const Index bytes = 16 * ceil_div(depth_, 4), items = multiply(fours, slices);
    const double work = static_cast<double>(items) * static_cast<double>(image_.columns()) *
                        (1 + 0.1 * static_cast<double>(depth_));
    const Index parts = std::min(items, parts_for(state.pool.size()));
    state.each(parts, work, [&](Index part, Index) {
      for (Index k = items * part / parts; k < items * (part + 1) / parts; ++k) {
        const Index four = k / slices, slice = k % slices, first = 4 * four;
        IntegerChannels all{};
        all.pixels = image_.slice(0, slice, four);
        all.steps = image_.points();
        all.points = depth_;
        all.weights = packed_channels_.data() + four * bytes;
        all.channels = std::min<Index>(4, groups_ - first);
        for (Index c = 0; c < all.channels; ++c) {
          const Index m = first + c;
          const std::int32_t bias = to.bias == nullptr ? 0 : to.bias[m];
          all.offsets[c] = bias - totals_[static_cast<std::size_t>(m)] * zero;
          all.by[c] = to.row_scale[m * to.row_step] * to.column_scale[0] / to.y_scale;
        }
        all.y_zero = to.y_zero;
        all.is_signed = to.is_signed;
        all.columns = image_.columns();
        all.pitch = image_.pitch();
        all.width = windows_.extents.back();
        all.row = positions_;
        all.y = to.y + first * positions_ + slice * in_slice;
        kernels.filter(all);
      }
    });
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
    to.narrow = true;
    if (has_input(at_.bias)) {
      const Tensor& bias = input(state, at_.bias);
      to.bias = bias.data<std::int32_t>();
      const Index most = 0x7fffffff - depth_ * 255 * 255;
      to.narrow = std::all_of(to.bias, to.bias + bias.size(),
                              [&](std::int32_t b) { return b <= most && b >= -most; });
    }
    return to;
  }

  // Convolves with filters of few numbers: a row of results at a time.
  void sum_rows(RunState& state, const IntegerProduct& given) const {
    const IntegerRowKernels& kernels = integer_rows();
    const Index width = planes_.width(), rows = positions_ / width, filters = w_[0];
    const double work = static_cast<double>(filters) * static_cast<double>(positions_) *
                        static_cast<double>(depth_) * 0.05;
    const Index parts = std::min(filters, parts_for(state.pool.size()));
    state.each(parts, work, [&](Index part, Index) {
      for (Index k = filters * part / parts * rows; k < filters * (part + 1) / parts * rows; ++k) {
        const Index m = k / rows, row = k % rows;
        for (Index n = 0; n < width; n += most_columns) {
          const Index count = std::min(most_columns, width - n), to = row * width + n;
          std::int32_t sums[most_columns];
          planes_.sum(m, row, n, count, sums);
          if (given.c == nullptr) {
            kernels.round(given.to, m, positions_, to, count, sums);
          } else {
            std::copy_n(sums, count, given.c + m * positions_ + to);
          }
        }
      }
    });
  }

  void convolve(RunState& state, const IntegerProduct& given, std::int32_t zero) {
    const IntegerTiles& tiles = integer_tiles();
    const Index wanted = parts_for(state.pool.size()), filters = windows_.filters;
    const Index panels = ceil_div(image_.columns(), tiles.columns), slices = image_.slices();
    const Index items = multiply(multiply(groups_, slices), panels);
    const Index row_parts =
        std::max<Index>(std::min(ceil_div(filters, 64), ceil_div(wanted, items)), 1);
    const double work = static_cast<double>(positions_) * static_cast<double>(groups_) *
                        static_cast<double>(filters + 16) * static_cast<double>(depth_) * 0.01;
    const Index all = items * row_parts, parts = std::min(all, wanted);
    const Index in_slice = positions_ / slices;
    state.each(parts, work, [&](Index part, Index) {
      for (Index k = all * part / parts; k < all * (part + 1) / parts; ++k) {
        const Index item = k / row_parts, row_part = k % row_parts, panel = item % panels;
        const Index slice = item / panels % slices, group = item / panels / slices;
        const Index first = group * filters;
        IntegerProduct product = given;
        product.a_row = product.depth = filters_.stored_depth();
        product.columns = image_.columns();
        product.pitch = image_.pitch();
        product.width = windows_.extents.back();
        product.plain = plain_;
        product.a = filters_.row(first);
        product.a_zero = filters_.zeros() + first;
        product.a_sum = filters_.sums() + first;
        product.b = image_.slice(group, slice);
        product.steps = image_.steps();
        product.step = image_.step();
        std::int32_t zeros[most_columns], rests[most_columns];
        std::fill_n(zeros, most_columns, zero);
        if (!plain_) rests_of(product, panel, zero, rests);
        product.b_zero = zeros;
        product.b_rest = rests;
        product.first_column = panel * tiles.columns;
        const Index to = first * positions_ + slice * in_slice;
        if (product.c != nullptr) {
          product.c += to;
        } else {
          product.to.y += to;
          product.to.row_scale += first * product.to.row_step;
          if (product.to.bias != nullptr) product.to.bias += first;
        }
        const Index low = filters * row_part / row_parts;
        tiles.multiply(product, panel, low, filters * (row_part + 1) / row_parts - low);
      }
    });
  }

  // Sums each column of a panel, and returns what is left without its zero point.
  void rests_of(const IntegerProduct& given, Index panel, std::int32_t zero,
                std::int32_t* rests) const {
    const IntegerTiles& tiles = integer_tiles();
    IntegerProduct product = given;
    const Index from = panel * tiles.columns;
    constexpr std::int32_t none = 0;
    product.a = ones_.row(0);
    product.a_zero = &none;
    product.a_sum = &none;
    product.b_zero = &none;
    product.plain = true;
    product.b += 4 * from;
    product.columns = std::min(tiles.columns, product.columns - from);
    product.pitch = product.width = product.row = product.columns;
    product.c = rests;
    tiles.multiply(product, 0, 0, 1);
    for (Index n = 0; n < product.columns; ++n) rests[n] = rest_of(rests[n], zero, depth_);
  }

  const Places& at_;
  bool constant_ = false;  // the filters and their zero points
  bool packed_ = false;    // they are packed for the windows
  bool plain_ = true;      // no stored filter has a zero point other than 0
  Way way_ = Way::reference;
  std::vector<Shape> shapes_;  // of the inputs of the call that is arranged
  Shape x_, w_;
  Windows windows_;
  Index depth_ = 0, groups_ = 0, positions_ = 0;
  PackedRows filters_, ones_;
  Charged<std::int8_t> packed_channels_;
  Charged<std::int32_t> totals_;  // of the weights of each filter
  IntegerImage image_;
  IntegerPlanes planes_;
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

}  // namespace touchstone::optimized
