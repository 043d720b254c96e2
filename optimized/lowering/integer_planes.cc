// Fills padded planes and sums along their rows, one product after the other.
#include "optimized/lowering/integer_planes.h"

#include <algorithm>
#include <cstring>

#include "optimized/lowering/integer_product.h"
#include "reference/lists.h"

namespace touchstone::optimized {

bool IntegerPlanes::arrange(const Windows& windows, Index channels) {
  windows_ = windows;
  const Windows& w = windows_;
  const Index r = w.image.size();
  const auto empty = [](Index size) { return size == 0; };
  products_ = multiply(w.channels, count(w.kernel));
  if (products_ > most_products || std::any_of(w.extents.begin(), w.extents.end(), empty) ||
      std::any_of(w.kernel.begin(), w.kernel.end(), empty))
    return false;
  channels_ = channels;
  padded_ = (w.extents - Index{1}) * w.step + (w.kernel - Index{1}) * w.spread + Index{1};
  const double read = static_cast<double>(count(w.extents)) * static_cast<double>(products_);
  double size = static_cast<double>(w.channels);
  for (const Index extent : padded_) size *= static_cast<double>(extent);
  if (size >
      4 * (read + static_cast<double>(count(w.image)) * static_cast<double>(w.channels)) + 65536)
    return false;
  plane_ = count(padded_);
  strides_ = dense_strides(padded_);
  taps_ = taps_memory_.at<Index>(products_);
  const Index points = count(w.kernel);
  IndexVector at(r, 0);
  for (Index t = 0; t < points; ++t) {
    const Index from = total(at * w.spread * strides_);
    for (Index c = 0; c < w.channels; ++c) taps_[c * points + t] = c * plane_ + from;
    for (Index d = r - 1; d >= 0 && ++at[d] == w.kernel[d]; --d) at[d] = 0;
  }
  image_ = padded_memory_.at<std::uint8_t>(
      add(multiply(channels_, plane_), multiply(16, w.step.back())));
  return true;
}

void IntegerPlanes::weigh(const std::int32_t* weights, Index filters) {
  weights_ = weights_memory_.at<std::int32_t>(multiply(filters, products_ + 1));
  totals_ = weights_ + filters * products_;
  std::copy_n(weights, filters * products_, weights_);
  for (Index m = 0; m < filters; ++m) {
    totals_[m] = 0;
    for (Index k = 0; k < products_; ++k) totals_[m] += weights[m * products_ + k];
  }
}

void IntegerPlanes::fill(RunState& state, const std::uint8_t* image, bool is_signed,
                         std::int32_t zero) {
  is_signed_ = is_signed;
  zero_ = zero;
  const auto pad = static_cast<unsigned char>(zero_);
  const Windows& w = windows_;
  const Index r = w.image.size(), length = padded_[r - 1], extent = w.image[r - 1];
  const Index rows = plane_ / length, before = w.before[r - 1], size = count(w.image);
  const IndexVector of_image = dense_strides(w.image);
  const Index first = clamp(before, 0, length);
  const Index end = clamp(add(before, extent), first, length);
  const Index parts = std::min(channels_, parts_for(state.pool.size()));
  const auto copy = [&](Index c) {
    IndexVector at(r, 0);
    std::uint8_t* to = image_ + c * plane_;
    for (Index row = 0; row < rows; ++row, to += length) {
      Index from = c * size;
      bool inside = true;
      for (Index d = 0; d < r - 1; ++d) {
        const Index i = subtract(at[d], w.before[d]);
        inside = inside && i >= 0 && i < w.image[d];
        if (inside) from += i * of_image[d];
      }
      if (inside && end > first) {
        std::memset(to, pad, static_cast<std::size_t>(first));
        std::memcpy(to + first, image + from + (first - before),
                    static_cast<std::size_t>(end - first));
        std::memset(to + end, pad, static_cast<std::size_t>(length - end));
      } else {
        std::memset(to, pad, static_cast<std::size_t>(length));
      }
      for (Index d = r - 2; d >= 0 && ++at[d] == padded_[d]; --d) at[d] = 0;
    }
  };
  state.each(parts, static_cast<double>(channels_ * plane_) * 0.1, [&](Index part, Index) {
    for (Index c = channels_ * part / parts; c < channels_ * (part + 1) / parts; ++c) copy(c);
  });
}

Index IntegerPlanes::start_of(Index row) const {
  Index start = 0;
  for (Index d = windows_.extents.size() - 2; d >= 0; --d) {
    start += row % windows_.extents[d] * windows_.step[d] * strides_[d];
    row /= windows_.extents[d];
  }
  return start;
}

void IntegerPlanes::sum(Index filter, Index row, Index n, Index count, std::int32_t* sums) const {
  const IntegerRowKernels& kernels = integer_rows();
  const Index step = windows_.step.back(), group = filter / windows_.filters;
  const std::uint8_t* const from =
      image_ + group * windows_.channels * plane_ + start_of(row) + n * step;
  const Index wide = (count + 15) / 16 * 16;  // whole vectors
  std::fill_n(sums, wide, -zero_ * totals_[filter]);
  const std::int32_t* const weights = weights_ + filter * products_;
  for (Index k = 0; k < products_; ++k)
    kernels.weigh(from + taps_[k], step, wide, is_signed_, weights[k], sums);
}

}  // namespace touchstone::optimized
