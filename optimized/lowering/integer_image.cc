// Arranges and fills images of 8-bit integers.
#include "optimized/lowering/integer_image.h"

#include <algorithm>
#include <cstring>

#include "optimized/lowering/integer_product.h"
#include "reference/lists.h"

namespace touchstone::optimized {

bool IntegerImage::arrange(const Windows& windows, Index groups) {
  windows_ = windows;
  const Windows& w = windows_;
  const Index r = w.image.size();
  const auto empty = [](Index size) { return size == 0; };
  if (std::any_of(w.extents.begin(), w.extents.end(), empty) ||
      std::any_of(w.kernel.begin(), w.kernel.end(), empty))
    return false;
  groups_ = groups;
  fours_ = ceil_div(w.channels, 4);
  points_ = count(w.kernel);
  const IndexVector padded =
      (w.extents - Index{1}) * w.step + (w.kernel - Index{1}) * w.spread + Index{1};
  planes_ = IndexVector(r, 0);
  for (Index d = 0; d < r; ++d) planes_[d] = ceil_div(padded[d], w.step[d]);

  phases_.clear();
  std::vector<Index> places;  // of each point: its plane, then its pixel
  IndexVector at(r, 0);
  strides_ = dense_strides(planes_);
  const double read = static_cast<double>(count(w.extents)) * static_cast<double>(w.channels) *
                      static_cast<double>(points_);
  double plane = 4;
  for (const Index size : planes_) plane *= static_cast<double>(size);
  const auto is_small = [&] {
    return plane * static_cast<double>(phases_.size()) * static_cast<double>(fours_) <
           16 * (read + static_cast<double>(count(w.image)) * static_cast<double>(w.channels)) +
               65536;
  };
  for (Index point = 0; point < points_; ++point) {
    IndexVector phase(r, 0);
    Index pixel = 0;
    for (Index d = 0; d < r; ++d) {
      phase[d] = at[d] * w.spread[d] % w.step[d];
      pixel += at[d] * w.spread[d] / w.step[d] * strides_[d];
    }
    const auto found = std::find(phases_.begin(), phases_.end(), phase);
    places.push_back(found - phases_.begin());
    places.push_back(pixel);
    if (found == phases_.end()) phases_.push_back(phase);
    if (!is_small() || phases_.size() > most_phases) return false;
    for (Index d = r - 1; d >= 0 && ++at[d] == w.kernel[d]; --d) at[d] = 0;
  }
  plane_ = count(planes_);
  whole_ = planes_ == w.image && w.before == IndexVector(r, 0) && w.step == IndexVector(r, 1);

  const auto phases = static_cast<Index>(phases_.size());
  // Channels are padded to what kernels sum at once, unless most of that were padding.
  const Index at_once = integer_tiles().fours, padded_fours = ceil_div(fours_, at_once) * at_once;
  const bool pads = at_once > 1 && 4 * fours_ >= 3 * padded_fours;
  stored_fours_ = pads ? padded_fours : fours_;
  step_ = pads ? 4 * phases * plane_ : 0;
  point_steps_ = steps_memory_.at<Index>(multiply(add(stored_fours_, 1), points_));
  steps_ = point_steps_ + points_;
  for (Index point = 0; point < points_; ++point) {
    const auto k = static_cast<std::size_t>(2 * point);
    point_steps_[point] = 4 * (places[k] * plane_ + places[k + 1]);
    for (Index four = 0; four < stored_fours_; ++four)
      steps_[point * stored_fours_ + four] = point_steps_[point] + 4 * four * phases * plane_;
  }
  slices_ = r < 2 ? 1 : count(head(w.extents, r - 2));
  columns_ = w.extents[r - 1] + (r < 2 ? 0 : (w.extents[r - 2] - 1) * planes_[r - 1]);
  const Index all = add(multiply(groups_, fours_), stored_fours_ - fours_);
  pixels_ =
      memory_.at<std::uint8_t>(add(multiply(multiply(all, multiply(phases, plane_)), 4), slack));
  return true;
}

const std::uint8_t* IntegerImage::slice(Index group, Index slice, Index four) const {
  const Index r = windows_.extents.size();
  Index pixel = (group * fours_ + four) * static_cast<Index>(phases_.size()) * plane_;
  for (Index d = r - 3; d >= 0; --d) {
    pixel += slice % windows_.extents[d] * strides_[d];
    slice /= windows_.extents[d];
  }
  return pixels_ + 4 * pixel;
}

void IntegerImage::fill(RunState& state, const std::uint8_t* image, std::uint8_t flip,
                        std::uint8_t zero) {
  const auto phases = static_cast<Index>(phases_.size());
  const Index items = groups_ * fours_ * phases,
              parts = std::min(items, parts_for(state.pool.size()));
  const double work = static_cast<double>(items) * static_cast<double>(plane_) * 0.3;
  state.each(parts, work, [&](Index part, Index) {
    for (Index item = items * part / parts; item < items * (part + 1) / parts; ++item)
      fill_plane(item / phases, item % phases, image, flip, zero);
  });
}

void IntegerImage::fill_plane(Index four, Index phase, const std::uint8_t* image, std::uint8_t flip,
                              std::uint8_t zero) const {
  const IntegerTiles& tiles = integer_tiles();
  const Windows& w = windows_;
  const Index size = count(w.image), r = w.image.size();
  const Index channel = four / fours_ * w.channels + four % fours_ * 4;
  const Index channels = std::min<Index>(4, w.channels - four % fours_ * 4);
  const std::uint8_t *planes[4], *rows[4];
  for (Index c = 0; c < 4; ++c)  // weights of channels that do not exist are 0
    planes[c] = image + (channel + (c < channels ? c : 0)) * size;
  std::uint8_t* to = pixels_ + 4 * (four * static_cast<Index>(phases_.size()) + phase) * plane_;
  if (whole_) return tiles.pack_pixels(planes, 1, plane_, flip, to);
  const IndexVector& remainder = phases_[static_cast<std::size_t>(phase)];
  const IndexVector strides = dense_strides(w.image);
  const Index last = r - 1, length = planes_[last], lines = plane_ / length;
  const Index offset = remainder[last] - w.before[last], step = w.step[last];
  const Index first = clamp(ceil_div(-offset, step), 0, length);
  const Index end = clamp(ceil_div(w.image[last] - offset, step), first, length);
  const auto padding = static_cast<std::uint8_t>(zero ^ flip) * std::uint32_t{0x01010101};
  const auto pad = [padding](std::uint8_t* from, Index pixels) {  // mostly one or none
    for (Index k = 0; k < pixels; ++k) std::memcpy(from + 4 * k, &padding, 4);
  };
  IndexVector at(r, 0);
  for (Index line = 0; line < lines; ++line, to += 4 * length) {
    Index pixel = 0;
    bool inside = end > first;
    for (Index d = 0; d < last; ++d) {
      const Index i = at[d] * w.step[d] + remainder[d] - w.before[d];
      inside = inside && i >= 0 && i < w.image[d];
      if (inside) pixel += i * strides[d];
    }
    if (inside) {
      for (Index c = 0; c < 4; ++c) rows[c] = planes[c] + pixel + first * step + offset;
      pad(to, first);
      tiles.pack_pixels(rows, step, end - first, flip, to + 4 * first);
      pad(to + 4 * end, length - end);
    } else {
      pad(to, length);
    }
    for (Index d = last - 1; d >= 0 && ++at[d] == planes_[d]; --d) at[d] = 0;
  }
}

}  // namespace touchstone::optimized
